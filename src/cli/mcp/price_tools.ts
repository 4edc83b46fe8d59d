import { z } from 'zod';
import type { Client } from '../../client/client.js';
import { RefusedError, UnverifiedError } from '../../client/connect/errors.js';
import type { AggregatePrice } from '../../client/prices/market_data.js';
import type { Signers } from '../../client/verify/checks.js';
import { formatDecimalPrice } from '../../client/verify/decimal_price.js';
import { verifyAggregate } from '../../client/verify/verify_aggregate.js';
import { verifyPayload } from '../../client/verify/verify_payload.js';
import type { AggregateReport } from '../../client/verify/verify_signed_price.js';
import { ALGORITHM_DEFINITIONS } from '../../crypto/algorithm_definition.js';
import { instantText, readInstant } from '../../model/instant.js';
import { SYMBOL_LENGTH_MAX } from '../../wire/asset_id.js';
import { FOREIGN_CHARACTERS_MAX, foreignText, visibleText } from '../../wire/foreign_text.js';
import { SIGNATURE_TYPES, type SignatureType } from '../../wire/signatures.js';
import { ageRemark } from '../age_remark.js';
import { refusalIn } from '../other_input.js';
import { pastFault } from '../past_client.js';
import { payloadOf } from '../verify_command.js';
import { divideSymbols } from './known_symbols.js';
import type { McpTool } from './mcp_session.js';

// The tools that read prices. Each answer states what was verified. No answer contains a price that failed its check.

export interface PriceToolsOptions {
  readonly client: Pick<Client, 'latest' | 'at' | 'taxonomy' | 'marketStatus'>;
  /** The keys that the user named. */
  readonly signers: Signers;
  readonly oracleId: string;
  /** The signature type to use for symbols that exist in both types. */
  readonly signatureType: SignatureType | undefined;
}

const SYMBOLS_MAX = 20;
const FOUND_MAX = 25;
const QUERY_CHARACTERS_MAX = 100;
const VERIFIED_CHARACTERS_MAX = 262_144;

const symbol = z.string().min(1).max(SYMBOL_LENGTH_MAX);
const symbols = z.array(symbol).min(1).max(SYMBOLS_MAX).describe('Symbols such as BTCUSD; search finds them');
const signatureType = z
  .enum(SIGNATURE_TYPES)
  .optional()
  .describe('The signature type, for a symbol that has both; default: evm');
/** Returns a name that the service or a file gives, in a field of its own. */
const namedBy = (text: string | undefined) =>
  text === undefined ? undefined : visibleText(text, FOREIGN_CHARACTERS_MAX);
const NO_SIGNER = 'nobody named a signer with --signer, and anybody can make a key and sign with it';
const UNSIGNED = 'the service does not sign this answer';

/** The verdict on a price or a whole answer. */
interface ToolVerdict {
  readonly verdict: 'verified' | 'not verified' | 'failed' | 'no price' | 'unknown asset' | 'not signed';
  /** The reason for each verdict other than `verified`. */
  readonly reason?: string;
}

type ToolAnswer = ToolVerdict & Readonly<Record<string, unknown>>;

interface SymbolsInput {
  readonly symbols: readonly string[];
  readonly signature_type?: SignatureType;
}

/** Makes the tools `latest`, `at`, `verify`, `search` and `market_status`. */
export function priceTools(options: PriceToolsOptions): readonly McpTool[] {
  const { client } = options;
  const queryOf = (type: SignatureType | undefined) => ({ signatureType: type ?? options.signatureType });
  return [
    {
      name: 'latest',
      title: 'Newest prices',
      description:
        'The newest signed price of assets. Each has a verdict, its signer and its age. Prices are exact decimal text.',
      input: z.strictObject({ symbols, signature_type: signatureType }),
      call: (input: SymbolsInput) =>
        withReadableErrors(() => newestOf(client, input.symbols, queryOf(input.signature_type))),
    },
    {
      name: 'at',
      title: 'Prices at a time',
      description:
        'The signed price of assets that was in force at a time of the last months, as it was signed, with its verdict and signer.',
      input: z.strictObject({
        symbols,
        time: z
          .string()
          .max(40)
          .describe(
            'A time such as 2026-11-20T12:00:00Z, a day (its beginning in UTC), or UNIX seconds or nanoseconds as text',
          ),
        signature_type: signatureType,
      }),
      async call(input: SymbolsInput & { readonly time: string }) {
        const timeNs = readInstant(input.time);
        if (timeNs === undefined)
          throw new RangeError(
            'time: expected a time such as 2026-11-20T12:00:00Z, a day, or UNIX seconds or nanoseconds',
          );
        const read = (wanted: readonly string[]) => client.at(wanted, timeNs, queryOf(input.signature_type));
        return withReadableErrors(async () => ({
          time: instantText(timeNs),
          prices: await pricesOf([...new Set(input.symbols)], false, read),
        }));
      },
    },
    {
      name: 'verify',
      title: 'Verify a signed text',
      description:
        'Checks signatures offline: of an aggregated signed price (JSON, also a whole answer of /v1/prices/latest), or of a signed_ecdsa payload (hex, or its frame). Says which checks failed.',
      input: z.strictObject({ text: z.string().min(1).max(VERIFIED_CHARACTERS_MAX) }),
      call: async ({ text }: { readonly text: string }) => verifyText(text.trim(), options),
    },
    {
      name: 'search',
      title: 'Find assets',
      description: `Assets whose symbol, name or class contains a text, at most ${FOUND_MAX}. An empty text lists the first ones.`,
      input: z.strictObject({ query: z.string().max(QUERY_CHARACTERS_MAX) }),
      call: ({ query }: { readonly query: string }) => withReadableErrors(() => findAssets(client, query)),
    },
    {
      name: 'market_status',
      title: 'Market status',
      description:
        'Whether the market of an asset is open, and when that changes. For assets with trading hours, not for those that trade around the clock.',
      input: z.strictObject({ symbol, signature_type: signatureType }),
      call: (input: { readonly symbol: string; readonly signature_type?: SignatureType }) =>
        withReadableErrors(async () => {
          const { status, next, changesAt } = await client.marketStatus(
            input.symbol,
            queryOf(input.signature_type),
          );
          const changes_at = instantText(BigInt(changesAt) * 1_000_000_000n);
          return { symbol: input.symbol, status, next, changes_at, ...unsignedVerdict() };
        }),
    },
  ];
}

/**
 * Reads the newest prices. The service refuses a request with an unknown symbol. In that case, the function requests only the known
 * symbols.
 */
async function newestOf(
  client: PriceToolsOptions['client'],
  wanted: readonly string[],
  query: { readonly signatureType: SignatureType | undefined },
): Promise<object> {
  const names = [...new Set(wanted)];
  const read = (symbols: readonly string[]) => client.latest(symbols, query);
  try {
    return { prices: await pricesOf(names, true, read) };
  } catch (error) {
    if (!isSymbolRefusal(error)) throw error;
    const { assets } = await client.taxonomy();
    const { known, unknown } = divideSymbols(names, assets, query.signatureType);
    if (unknown.size === 0) throw error;
    const prices = known.length === 0 ? [] : await pricesOf(known, true, read);
    return { prices: [...prices, ...[...unknown].map(([name, reason]) => unknownAsset(name, reason))] };
  }
}

/** Returns whether the service refused a symbol, because it is unknown (400) or outside the token's rights (403). */
function isSymbolRefusal(error: unknown): boolean {
  return error instanceof RefusedError && (error.status === 400 || error.status === 403);
}

/** Reads prices. When a price fails its check, reads each price separately, so that the other prices are not lost. */
async function pricesOf(
  names: readonly string[],
  isNewest: boolean,
  read: (symbols: readonly string[]) => Promise<Readonly<Record<string, AggregatePrice>>>,
): Promise<readonly ToolAnswer[]> {
  try {
    const prices = await read(names);
    return names.map((name) => {
      const price = prices[name];
      return price === undefined ? noPrice(name, isNewest) : priceAnswer(price, isNewest);
    });
  } catch (error) {
    if (!(error instanceof UnverifiedError)) throw error;
    if (names.length === 1) return [{ symbol: names[0]!, verdict: 'failed', reason: error.message }];
    const alone: ToolAnswer[] = [];
    for (const name of names) alone.push(...(await pricesOf([name], isNewest, read)));
    return alone;
  }
}

function unknownAsset(name: string, reason: string): ToolAnswer {
  return { symbol: name, verdict: 'unknown asset', reason };
}

function noPrice(name: string, isNewest: boolean): ToolAnswer {
  return {
    symbol: name,
    verdict: 'no price',
    reason: isNewest ? 'it has no live price now' : 'it had no price then',
  };
}

function priceAnswer(price: AggregatePrice, isNewest: boolean): ToolAnswer {
  const { ageMs, quality, timestampNs } = price;
  const remark = isNewest ? ageRemark(ageMs) : undefined;
  return {
    symbol: namedBy(price.symbol),
    price: price.decimal,
    price_times_1e18: String(price.price),
    signed_at: instantText(timestampNs),
    signed_at_ns: String(timestampNs),
    age_ms: ageMs,
    ...(remark !== undefined && { remark }),
    inputs: price.inputs,
    ...(quality !== undefined && { publishers: quality.publishers }),
    signer: price.signer,
    ...verdictOfPassed(price.verdict),
  };
}

function verdictOfPassed(verdict: 'verified' | 'recovered'): ToolVerdict {
  return verdict === 'verified' ? { verdict } : { verdict: 'not verified', reason: NO_SIGNER };
}

function unsignedVerdict(): ToolVerdict {
  return { verdict: 'not signed', reason: UNSIGNED };
}

/** Verifies a text without a request to the service. */
function verifyText(text: string, { signers, oracleId }: PriceToolsOptions): object {
  const refusal = refusalIn(text);
  if (refusal !== undefined)
    throw new RangeError(`text: it is an error that a service answered: ${foreignText(refusal)}`);
  const payload = payloadOf(text);
  if (payload === undefined) {
    const knownAlgorithms = ALGORITHM_DEFINITIONS;
    const reports = verifyAggregate(text, { signers, oracleId, knownAlgorithms });
    return {
      results: reports.map((report) => ({ symbol: namedBy(report.assetId), ...reportAnswer(report) })),
    };
  }
  const report = verifyPayload(payload, { signers });
  const { payload: content } = report;
  return {
    results: [
      {
        ...(content !== undefined && {
          taxonomy_id: content.taxonomyId,
          signed_at: instantText(content.timestampNs),
          signed_at_ns: String(content.timestampNs),
          assets: content.assets.map(({ id, value }) => ({
            streaming_id: id,
            price: formatDecimalPrice(value),
            price_times_1e18: String(value),
          })),
        }),
        ...reportAnswer(report),
      },
    ],
  };
}

type CheckedText = Pick<AggregateReport, 'verdict' | 'checks' | 'signer' | 'inputs'>;

function reportAnswer({ verdict, checks, signer, inputs }: CheckedText): ToolAnswer {
  const failed = checks.filter(({ status }) => status === 'failed');
  const reason = failed.map(({ name, reason: why }) => `${name}: ${why}`).join('; ');
  return {
    ...(signer !== undefined && { signer, inputs }),
    checks_passed: checks.filter(({ status }) => status === 'ok').length,
    ...(verdict === 'failed' ? { verdict, reason } : verdictOfPassed(verdict)),
  };
}

async function findAssets(client: PriceToolsOptions['client'], query: string): Promise<object> {
  const { assets, simulation } = await client.taxonomy();
  const wanted = query.trim().toLowerCase();
  const matching = assets.filter(({ symbol: name, fullName = '', assetClass = '' }) =>
    [name, fullName, assetClass].some((text) => text.toLowerCase().includes(wanted)),
  );
  return {
    assets: matching.slice(0, FOUND_MAX).map((asset) => ({
      symbol: namedBy(asset.symbol),
      name: namedBy(asset.fullName),
      class: namedBy(asset.assetClass),
      signature_type: asset.signatureType,
      has_trading_hours: asset.calendar !== 'none',
      ...((asset.simulation ?? simulation) && { simulated: true }),
    })),
    found: matching.length,
    ...unsignedVerdict(),
  };
}

/** Calls `ask`, and replaces its errors with texts for people. */
async function withReadableErrors(ask: () => Promise<object>): Promise<object> {
  try {
    return await ask();
  } catch (error) {
    throw new Error(pastFault(error).text);
  }
}
