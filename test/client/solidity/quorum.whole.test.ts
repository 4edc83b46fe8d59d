import fc from 'fast-check';
import { test } from 'tap';
import { build } from './build.js';
import { Chain, type Deployed, type Result } from './chain.js';
import { NATIVE_ECRECOVER } from './native_ecrecover.js';
import { bodyOf, type Content, E18, hexOf, type Key, keyOf, NS_PER_S, PRICE, sign } from './payloads.js';

// Tests of the quorum contract in an EVM. Each operator has a different key, taxonomy and streaming IDs.

const NOW_S = 1_765_215_119n;
const RULES = { threshold: 2, maxSpreadPpm: 10_000, maxAgeS: 60, maxFutureS: 5 };
const UNIT = 100n * E18;
const FOREVER = 2n ** 64n - 1n;
const FUZZ_RUNS = 60;
const STRANGER = `0x${'22'.repeat(20)}`;

interface Operator {
  readonly id: number;
  readonly key: Key;
}

const bySigner = (one: Operator, other: Operator) => (one.key.address < other.key.address ? -1 : 1);
/** Operators in ascending order of their signers, as the contract requires. */
const OPERATORS = Array.from({ length: 6 }, (_, i) => ({ id: i + 1, key: keyOf(i + 1) })).sort(bySigner);
const [A, B, C] = OPERATORS as [Operator, Operator, Operator];

interface Vote {
  readonly price?: bigint;
  readonly timeS?: bigint;
  readonly taxonomyId?: number;
  readonly mask?: number;
  readonly assets?: Content['assets'];
}

/** Returns the streaming ID of an operator's asset. */
const idOf = ({ id }: Operator) => 50 * id;

function payloadOf(operator: Operator, vote: Vote = {}) {
  const { price = UNIT, timeS = NOW_S, taxonomyId = operator.id, mask } = vote;
  const { assets = [{ id: idOf(operator), value: price }] } = vote;
  const content = { taxonomyId, timestampNs: timeS * NS_PER_S, assets, ...(mask !== undefined && { mask }) };
  return hexOf(sign(bodyOf(content), operator.key));
}

type Votes = readonly (readonly [Operator, Vote])[];

function pricesOf(contract: Deployed, votes: Votes): Promise<Result> {
  const payloads = votes.map(([operator, vote]) => payloadOf(operator, vote));
  return contract.call('pricesOf', [payloads, [votes.map(([operator]) => idOf(operator))]]);
}

const code = build('TicksealQuorum.sol');

function setSigner(contract: Deployed, { id, key }: Operator, untilS = FOREVER, caller?: string) {
  return contract.call('setSigner', [key.address, id, id, untilS], caller);
}

async function quorumOf(operators: readonly Operator[], rules = RULES): Promise<Deployed> {
  const chain = await Chain.create([NATIVE_ECRECOVER]);
  chain.timeS = NOW_S;
  const contract = await chain.deploy(code, [rules]);
  for (const operator of operators) await setSigner(contract, operator);
  return contract;
}

test('each wrong payload is refused with its reason', async (t) => {
  const contract = await quorumOf([A, B, C]);
  const liar = (price: bigint): Votes => [
    [A, {}],
    [B, {}],
    [C, { price }],
  ];
  const second = (vote: Vote, operator = B): Votes => [
    [A, {}],
    [operator, vote],
  ];
  const twice = [1n, 1n].map((value) => ({ id: idOf(B), value }));
  for (const [what, error, votes] of [
    ['fewer than the threshold', 'WrongPayloadCount', [[A, {}]]],
    ['a signer twice', 'UnorderedSigners', second({ price: UNIT + 1n }, A)],
    ['reordered', 'UnorderedSigners', [...second({})].reverse()],
    ['a lie of 5 %', 'PricesApart', liar((UNIT * 105n) / 100n)],
    ['above the spread', 'PricesApart', liar((UNIT * 101n) / 100n + 1n)],
    ['old', 'TooOld', second({ timeS: NOW_S - 61n })],
    ['of the future', 'InTheFuture', second({ timeS: NOW_S + 6n })],
    [
      'times apart',
      'TimesApart',
      [
        [A, { timeS: NOW_S - 60n }],
        [B, { timeS: NOW_S + 5n }],
      ],
    ],
    ["another's taxonomy", 'WrongTaxonomy', second({ taxonomyId: A.id })],
    ['a key that is not listed', 'UnknownSigner', second({}, OPERATORS[5]!)],
    ['two prices of one asset', 'UnorderedAssets', second({ assets: twice })],
    ['an ID that the payload lacks', 'AssetMissing', second({ assets: [{ id: 7, value: UNIT }] })],
  ] as readonly [string, string, Votes][])
    t.match(await pricesOf(contract, votes), { ok: false, error }, what);
  t.match(await pricesOf(contract, liar((UNIT * 101n) / 100n)), { ok: true }, 'exactly at the spread');
  const both = [payloadOf(A), payloadOf(B)];
  t.match(await contract.call('pricesOf', [both, [[idOf(A)]]]), { error: 'WrongIdCount' });
});

test('a key counts until its expiry, and each operator once', async (t) => {
  const contract = await quorumOf([A, B]);
  const votes: Votes = [
    [A, {}],
    [B, {}],
  ];
  await setSigner(contract, B, NOW_S + 1n);
  t.match(await pricesOf(contract, votes), { ok: true });
  await setSigner(contract, B, NOW_S);
  t.match(await pricesOf(contract, votes), { error: 'ExpiredSigner' });
  const second = { id: A.id, key: keyOf(77) };
  await setSigner(contract, second);
  const both = [A, second].sort(bySigner).map((operator) => [operator, {}] as const);
  t.match(await pricesOf(contract, both), { error: 'SameOperator' });
});

test('random payloads have the median and the refusals of a slow reference', async () => {
  const vote = fc.record({
    price: fc.bigInt({ min: 9_930n, max: 10_060n }),
    ageS: fc.bigInt({ min: -6n, max: 62n }),
    isVersioned: fc.boolean(),
  });
  const contract = await quorumOf(OPERATORS.slice(0, 4));
  const property = fc.asyncProperty(fc.array(vote, { maxLength: 4 }), async (drawn) => {
    const votes = drawn.map(({ price, ageS, isVersioned }, i): Votes[number] => [
      OPERATORS[i]!,
      { price, timeS: NOW_S - ageS, ...(isVersioned && { mask: PRICE }) },
    ]);
    const found = await pricesOf(contract, votes);
    const prices = drawn.map(({ price }) => price).sort((one, other) => Number(one - other));
    const ages = drawn.map(({ ageS }) => ageS).sort((one, other) => Number(one - other));
    const [lowest = 0n, highest = 0n] = [prices[0], prices.at(-1)];
    const agree =
      drawn.length >= RULES.threshold &&
      ages.every((ageS) => ageS >= -5n && ageS <= 60n) &&
      ages.at(-1)! - ages[0]! <= 60n &&
      (highest - lowest) * 100n <= lowest;
    if (!agree || !found.ok) return !agree && !found.ok;
    const upper = prices[prices.length >> 1]!;
    const price = prices.length % 2 === 1 ? upper : (prices[(prices.length >> 1) - 1]! + upper) / 2n;
    const [timestampNs, [median]] = found.value as [bigint, bigint[]];
    return median === price && timestampNs === (NOW_S - ages[ages.length >> 1]!) * NS_PER_S;
  });
  await fc.assert(property, { numRuns: FUZZ_RUNS });
});

test('the owner sets signers and rules, and nobody else does', async (t) => {
  const contract = await quorumOf([]);
  const setRules = (rules: typeof RULES, caller?: string) => contract.call('setRules', [rules], caller);
  t.match(await setSigner(contract, A, FOREVER, STRANGER), { error: 'NotOwner' });
  t.match(await setRules(RULES, STRANGER), { error: 'NotOwner' });
  t.match(await setRules({ ...RULES, threshold: 3 }), { ok: true });
  t.match(await setRules({ ...RULES, threshold: 1 }), { error: 'InvalidRules' });
  await t.rejects(quorumOf([], { ...RULES, maxAgeS: 0 }), /InvalidRules/);
  for (const id of [0, 257]) t.match(await setSigner(contract, { ...A, id }), { error: 'InvalidSigner' });
});
