import { test } from 'tap';
import { coverageOf, readReference } from '../../scripts/build_reference.js';
import { type ReferenceMember, readClientReference } from '../../src/server/documents/client_reference.js';

// Tests that the docstrings of the client's public API are complete, because the service serves them as its reference.

/**
 * The smallest share of exported names and public members with a docstring. The share of nats.js, counted in the same way, is
 * 0.41.
 */
const COVERAGE_MIN = 0.9;

const reference = readReference();
const entryOf = (name: string) => reference.entries.find((entry) => entry.name === name)!;
const memberOf = (name: string, member: string): ReferenceMember =>
  entryOf(name).members.find((one) => one.name === member)!;

test('every exported name and every public member has a docstring', async (t) => {
  const { total, documented, missing } = coverageOf(reference);
  t.comment(`${documented} of ${total} have a docstring`);
  t.ok(total > 250, `${total} names and members`);
  t.ok(documented / total >= COVERAGE_MIN);
  t.same(missing, []);
});

test('every option says its default, but for functions that are called', async (t) => {
  const silent = reference.entries
    .filter(({ name }) => /(?:Options|Query|Expectations|PriceToSign)$/.test(name))
    .flatMap(({ name, members }) =>
      members
        .filter(({ isOptional, docstring }) => isOptional && docstring.fallback === undefined)
        .filter(({ docstring }) => !docstring.text.startsWith('Called '))
        .map((member) => `${name}.${member.name}`),
    );
  t.same(silent, []);
});

test('the reference has signatures, values, defaults, errors and what is inherited', async (t) => {
  t.match(entryOf('createClient'), {
    kind: 'function',
    signature: 'function createClient(options: ClientOptions): Client',
    docstring: { text: /Web Worker/, throws: ['TypeError or RangeError for wrong options'] },
    inNode: { text: /can publish/ },
  });
  t.equal(
    entryOf('Channel').signature,
    "type Channel = '10ms' | '20ms' | '50ms' | '100ms' | '500ms' | '1s' | 'real_time'",
  );
  t.match(memberOf('ClientOptions', 'signers'), { isOptional: false, signature: 'SignerSource' });
  t.match(memberOf('StreamOptions', 'signatureType'), {
    isOptional: true,
    signature: "'evm' | 'stark' | 'both'",
    docstring: { fallback: '`evm` for a symbol that has both' },
  });
  t.match(memberOf('Client', 'assets'), { inheritedFrom: 'StreamClient' });
  t.match(memberOf('Client', 'latest'), {
    signature:
      'latest(symbols: readonly string[], query: AssetQuery = {}): Promise<Record<string, AggregatePrice>>',
  });
  t.match(memberOf('AggregatePrice', 'decimal'), { inheritedFrom: 'Tick', signature: 'string' });
  t.equal(memberOf('Client', 'context'), undefined, 'nothing protected');
  t.equal(memberOf('TicksealError', 'stack'), undefined, 'nothing of the language');
});

test('the built reference is that of the code', async (t) => {
  t.same(readClientReference(), reference);
});
