import fc from 'fast-check';
import { test } from 'tap';
import type { JsonSchema } from '../../src/server/documents/json_schema.js';
import { type OpenApiDocument, operationsOf } from '../../src/server/documents/openapi.js';
import { EVENTS_PATH, REST_PATHS } from '../../src/wire/paths.js';
import { checkerOf } from '../server/documents/checker.js';
import { valuesOf } from '../server/documents/schema_values.js';
import { get, startTestService } from './harness.js';

// Tests that each parameter of REST accepts exactly the values that the served OpenAPI document allows.

/** Valid values for the other parameters of a request. */
const GOOD: Readonly<Record<string, string>> = {
  assets: 'BTCUSD',
  symbol: 'BTCUSD',
  asset_id: 'AAPL',
  timestamp: String(Math.floor(Date.now() / 1000) - 1),
  resolution: '1D',
  from: '0',
  to: '86400',
};

/** The refusals of values that have the right form. */
const REFUSED_BY_VALUE =
  /^(?:signature_type is \w+, in which there is no|timestamp lies in the future|timestamp is older than|timestamp is before the signed prices|from is before the signed prices|to lies before from|from lies in the far future|every is not a duration|assets names assets that are not configured|none of the assets had|from and to span more than|more than \d+ candles|(?:assets|symbol|asset_id) names (?:an )?unknown asset|assets names \d+ assets|asset_id names an asset that trades around the clock)/;

const anyText = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.integer().map(String),
  fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }).map(String),
  fc.double().map(String),
  fc.constantFrom(
    '',
    '-',
    'BTCUSD',
    'BTCUSD,AAPL',
    ' AAPL , BTCUSD ',
    'AAPL,',
    ',',
    'A B',
    '*',
    '1D',
    '3',
    '1000000',
    '999999',
  ),
);

const LONE_SURROGATE = /[\ud800-\udfff]/u;

/** Returns the JSON value of a query's text. The type in its schema determines the form. */
function jsonValueOf({ type }: JsonSchema, text: string): unknown {
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text;
}

test('a parameter takes what its schema allows, and nothing else', async (t) => {
  const service = await startTestService(t, {
    assets: [
      { id: 1, symbol: 'BTCUSD' },
      { id: 2, symbol: 'AAPL', calendar: 'us_equities' },
    ],
  });
  const document = (await (await get(`${service.url}/openapi.json`)).json()) as OpenApiDocument;
  const check = checkerOf(document);

  // Other tests cover the operations of publishers that log in by signature, the stream, whose answer has no end, and the proofs
  // of a public log, which this service does not have.
  const elsewhere: readonly string[] = [EVENTS_PATH, REST_PATHS.proof];
  const withToken = operationsOf(document).filter(
    ({ path, operation }) => !operation.security?.length && !elsewhere.includes(path),
  );
  for (const { path, operation } of withToken) {
    for (const { name, schema } of operation.parameters) {
      const others = operation.parameters.filter((one) => one.required && one.name !== name);
      const ask = async (text: string) => {
        const query = new URLSearchParams({
          ...Object.fromEntries(others.map((one) => [one.name, GOOD[one.name]!])),
          [name]: text,
        });
        const response = await get(`${service.url}${path}?${query}`);
        const { error, errmsg } = (await response.json()) as { error?: string; errmsg?: string };
        return { status: response.status, refusal: error ?? errmsg };
      };
      const texts = fc.oneof(
        anyText,
        valuesOf(schema, document).map((value) => String(value)),
      );
      let taken = 0;
      await fc.assert(
        fc.asyncProperty(
          // A URL cannot contain a lone surrogate, and a JSON number cannot have leading zeros.
          texts.filter((text) => !LONE_SURROGATE.test(text) && !/^-?0\d/.test(text)),
          async (text) => {
            const fits = check(schema, jsonValueOf(schema, text)) === '';
            const { status, refusal } = await ask(text);
            const where = `${path} ${name}=${JSON.stringify(text)}: ${status} ${refusal}`;
            if (status >= 500) throw new Error(where);
            if (fits) taken++;
            if (fits && refusal !== undefined && !REFUSED_BY_VALUE.test(refusal))
              throw new Error(`refused: ${where}`);
            if (!fits && refusal === undefined) throw new Error(`taken: ${where}`);
          },
        ),
        { numRuns: 80 },
      );
      t.ok(taken > 15, `${path} ${name}: ${taken} texts of the right form`);
    }
  }
});
