import { keccak_256 } from '@noble/hashes/sha3.js';
import fc from 'fast-check';
import { test } from 'tap';
import { secp256k1 } from '../../../src/crypto/secp256k1/secp256k1.js';
import { bodyOf } from '../signed_payload.js';
import { bytesTail, Contract, compile, listOf, type Outcome, selector, word } from './contract.js';

// Tests of the quorum contract in an EVM. Each operator has a different key, taxonomy and streaming IDs.

const NOW_S = 1_765_215_119n;
const NS_PER_S = 1_000_000_000n;
const RULES = { threshold: 2, maxSpreadPpm: 10_000, maxAgeS: 60, maxFutureS: 5 };
const PRICE = 100n * 10n ** 18n;
const FOREVER = 2n ** 64n - 1n;
const FUZZ_RUNS = 60;

interface Operator {
  readonly id: number;
  readonly secretKey: Buffer;
  readonly signer: bigint;
}

function operatorOf(id: number, key = id): Operator {
  const secretKey = Buffer.from(word(key + 1_000), 'hex');
  const publicKey = secp256k1.publicKey(secretKey).subarray(1);
  return { id, secretKey, signer: BigInt(`0x${Buffer.from(keccak_256(publicKey)).toString('hex', 12)}`) };
}

/** Operators in ascending order of their signers, as the contract requires. */
const OPERATORS = Array.from({ length: 13 }, (_, i) => operatorOf(i + 1)).sort(bySigner);
const [A, B, C] = OPERATORS as [Operator, Operator, Operator];

function bySigner(one: Operator, other: Operator): number {
  return one.signer < other.signer ? -1 : 1;
}

interface Content {
  readonly prices?: readonly bigint[];
  readonly timeS?: bigint;
  readonly taxonomyId?: number;
  readonly isVersioned?: boolean;
}

/** Returns the streaming IDs of an operator's first assets. */
const idsOf = ({ id }: Operator, assets: number) => Array.from({ length: assets }, (_, i) => 50 * id + i);

function payloadOf(operator: Operator, content: Content = {}): Buffer {
  const { prices = [PRICE], timeS = NOW_S, taxonomyId = operator.id, isVersioned = false } = content;
  const ids = idsOf(operator, prices.length);
  const assets = prices.map((price, i) => [ids[i]!, price, 1] as const);
  const body = bodyOf({ taxonomyId, timestampNs: timeS * NS_PER_S, assets }, isVersioned);
  const { signature, recovery } = secp256k1.sign(keccak_256(body), operator.secretKey);
  return Buffer.concat([signature, Buffer.of(recovery), body]);
}

type Vote = readonly [operator: Operator, payload: Uint8Array];

function pricesOf(contract: Contract, votes: readonly Vote[], assets = 1): Promise<Outcome> {
  const payloads = listOf(votes.map(([, payload]) => bytesTail(payload)));
  const ids = Array.from({ length: assets }, (_, asset) => {
    const row = votes.map(([operator]) => word(idsOf(operator, assets)[asset]!));
    return word(row.length) + row.join('');
  });
  const data = word(64) + word(64 + payloads.length / 2) + payloads + listOf(ids);
  return contract.call('pricesOf(bytes[],uint16[][])', data);
}

const bytecode = compile('TicksealQuorum');

function deploy(rules = RULES): Promise<Contract | string> {
  return Contract.deploy(bytecode, Object.values(rules).map(word).join(''));
}

function setSigner(contract: Contract, operator: Operator, untilS = FOREVER, caller?: string) {
  const values = [operator.signer, BigInt(operator.id), BigInt(operator.id), untilS];
  return contract.call('setSigner(address,uint16,uint16,uint64)', values.map(word).join(''), caller);
}

async function quorumOf(operators: readonly Operator[], rules = RULES): Promise<Contract> {
  const contract = await deploy(rules);
  if (typeof contract === 'string') throw new Error(`the constructor reverts with ${contract}`);
  contract.timeS = NOW_S;
  for (const operator of operators) await setSigner(contract, operator);
  return contract;
}

const votesOf = (operators: readonly Operator[], contents: readonly Content[]): Vote[] =>
  operators.map((operator, i) => [operator, payloadOf(operator, contents[i])]);

function pricesIn(outcome: Outcome) {
  if (!outcome.ok) return outcome.error;
  const [timestampNs, , , ...prices] = outcome.words;
  return { timestampNs: timestampNs!, prices: prices.map((price) => BigInt.asIntN(256, price)) };
}

test('the median of payloads of both layouts', async (t) => {
  for (const [threshold, operators] of [
    [2, 3],
    [3, 5],
    [7, 13],
  ] as const)
    for (const assets of [1, 10])
      for (const isVersioned of [false, true]) {
        const chosen = OPERATORS.slice(0, operators);
        const contract = await quorumOf(chosen, { ...RULES, threshold });
        const prices = Array.from({ length: assets }, (_, i) => PRICE * BigInt(i + 1));
        const contents = chosen.map((_, i) => ({
          isVersioned,
          prices: prices.map((price) => price + BigInt(i)),
          timeS: NOW_S - BigInt(i),
        }));
        const outcome = await pricesOf(contract, votesOf(chosen.slice(0, threshold), contents), assets);
        const middle = BigInt(Math.floor((threshold - 1) / 2));
        const half = threshold % 2 === 0 ? 0n : middle;
        t.same(pricesIn(outcome), {
          timestampNs: (NOW_S - BigInt(Math.floor(threshold / 2))) * NS_PER_S,
          prices: prices.map((price) => price + half),
        });
      }
});

test('each wrong payload is refused with its reason', async (t) => {
  const contract = await quorumOf([A, B, C]);
  const refused = async (error: string, votes: readonly Vote[], what: string) =>
    t.same(await pricesOf(contract, votes), { ok: false, error: selector(error) }, what);
  const good = votesOf([A, B], [{}, {}]);
  t.match(await pricesOf(contract, good), { ok: true });
  const [ofA, ofB] = good as [Vote, Vote];
  await refused('WrongPayloadCount(uint256)', [ofA], 'fewer than the threshold');
  await refused('WrongPayloadCount(uint256)', [], 'none');
  await refused('UnorderedSigners(address)', [ofA, ofA], 'one payload twice');
  await refused('UnorderedSigners(address)', [ofB, ofA], 'reordered');
  await refused(
    'UnorderedSigners(address)',
    [ofA, [A, payloadOf(A, { prices: [PRICE + 1n] })]],
    'a signer twice',
  );
  const liar = (price: bigint) => votesOf([A, B, C], [{}, {}, { prices: [price] }]);
  await refused('PricesApart(uint256,int128,int128)', liar((PRICE * 105n) / 100n), 'a lie of 5 %');
  await refused('PricesApart(uint256,int128,int128)', liar(-PRICE), 'another sign');
  await refused('PricesApart(uint256,int128,int128)', liar((PRICE * 101n) / 100n + 1n), 'above the spread');
  t.match(await pricesOf(contract, liar((PRICE * 101n) / 100n)), { ok: true }, 'exactly at the spread');
  await refused('TooOld(uint64)', votesOf([A, B], [{}, { timeS: NOW_S - 61n }]), 'old');
  await refused('InTheFuture(uint64)', votesOf([A, B], [{}, { timeS: NOW_S + 6n }]), 'of the future');
  const apart = votesOf([A, B], [{ timeS: NOW_S - 60n }, { timeS: NOW_S + 5n }]);
  await refused('TimesApart(uint64,uint64)', apart, 'times apart');
  await refused('WrongTaxonomy(uint16)', votesOf([A, B], [{}, { taxonomyId: A.id }]), "another's taxonomy");
  const stranger = OPERATORS[5]!;
  await refused('UnknownSigner(address)', votesOf([A, stranger], [{}, {}]), 'a key that is not listed');
  const unordered = [PRICE, PRICE].map((price) => [idsOf(B, 1)[0]!, price, 1] as const);
  const body = bodyOf({ taxonomyId: B.id, timestampNs: NOW_S * NS_PER_S, assets: unordered }, false);
  const { signature, recovery } = secp256k1.sign(keccak_256(body), B.secretKey);
  const twice = Buffer.concat([signature, Buffer.of(recovery), body]);
  await refused('UnorderedAssets(uint16)', [ofA, [B, twice]], 'two prices of one asset');
  await refused('AssetMissing(uint16)', [ofA, [{ ...B, id: 99 }, ofB[1]]], 'an ID that the payload lacks');
  const oneId = listOf([bytesTail(ofA[1]), bytesTail(ofB[1])]);
  const data = word(64) + word(64 + oneId.length / 2) + oneId + listOf([word(1) + word(idsOf(A, 1)[0]!)]);
  t.same(await contract.call('pricesOf(bytes[],uint16[][])', data), {
    ok: false,
    error: selector('WrongIdCount(uint256)'),
  });
});

test('a key counts until its expiry, and each operator once', async (t) => {
  const contract = await quorumOf([A, B]);
  const votes = votesOf([A, B], [{}, {}]);
  t.match(await setSigner(contract, B, NOW_S + 1n), { ok: true });
  t.match(await pricesOf(contract, votes), { ok: true });
  t.match(await setSigner(contract, B, NOW_S), { ok: true });
  t.same(await pricesOf(contract, votes), { ok: false, error: selector('ExpiredSigner(address,uint64)') });
  const second = operatorOf(A.id, 77);
  t.match(await setSigner(contract, second), { ok: true });
  const both = [A, second].sort(bySigner);
  t.same(await pricesOf(contract, votesOf(both, [{}, {}])), {
    ok: false,
    error: selector('SameOperator(uint16)'),
  });
});

test('no flipped byte of one payload is accepted', async (t) => {
  const contract = await quorumOf([A, B]);
  for (const isVersioned of [false, true]) {
    const [first, [, payload]] = votesOf([A, B], [{ isVersioned }, { isVersioned }]) as [Vote, Vote];
    let accepted = 0;
    for (let at = 0; at < payload.length; at += 1) {
      const flipped = Buffer.from(payload);
      flipped[at]! ^= at % 2 === 0 ? 0x01 : 0x80;
      if ((await pricesOf(contract, [first, [B, flipped]])).ok) accepted += 1;
    }
    t.equal(accepted, 0, `${payload.length} bytes`);
  }
});

test('random payloads have the median and the refusals of a slow reference', async () => {
  const vote = fc.record({
    price: fc.bigInt({ min: 9_930n, max: 10_060n }),
    ageS: fc.bigInt({ min: -6n, max: 62n }),
    isVersioned: fc.boolean(),
  });
  const contract = await quorumOf(OPERATORS.slice(0, 4));
  const property = fc.asyncProperty(fc.array(vote, { maxLength: 4 }), async (votes) => {
    const contents = votes.map(({ price, ageS, isVersioned }) => ({
      prices: [price],
      timeS: NOW_S - ageS,
      isVersioned,
    }));
    const found = pricesIn(await pricesOf(contract, votesOf(OPERATORS.slice(0, votes.length), contents)));
    const prices = votes.map(({ price }) => price).sort((one, other) => Number(one - other));
    const ages = votes.map(({ ageS }) => ageS).sort((one, other) => Number(one - other));
    const [lowest = 0n, highest = 0n] = [prices[0], prices.at(-1)];
    const agree =
      votes.length >= RULES.threshold &&
      ages.every((ageS) => ageS >= -5n && ageS <= 60n) &&
      ages.at(-1)! - ages[0]! <= 60n &&
      (highest - lowest) * 100n <= lowest;
    if (!agree) return typeof found === 'string';
    const upper = prices[prices.length >> 1]!;
    const price = prices.length % 2 === 1 ? upper : (prices[(prices.length >> 1) - 1]! + upper) / 2n;
    const timestampNs = (NOW_S - ages[ages.length >> 1]!) * NS_PER_S;
    return typeof found !== 'string' && found.prices[0] === price && found.timestampNs === timestampNs;
  });
  await fc.assert(property, { numRuns: FUZZ_RUNS });
});

test('the owner sets signers and rules, and nobody else does', async (t) => {
  const contract = await quorumOf([]);
  const stranger = `0x${'22'.repeat(20)}`;
  const notOwner = { ok: false, error: selector('NotOwner()') };
  t.same(await setSigner(contract, A, FOREVER, stranger), notOwner);
  const setRules = (rules: typeof RULES, caller?: string) =>
    contract.call('setRules((uint16,uint32,uint32,uint32))', Object.values(rules).map(word).join(''), caller);
  t.same(await setRules(RULES, stranger), notOwner);
  t.match(await setRules({ ...RULES, threshold: 3 }), { ok: true });
  const invalid = { ok: false, error: selector('InvalidRules()') };
  t.same(await setRules({ ...RULES, threshold: 1 }), invalid);
  t.same(await setRules({ ...RULES, maxSpreadPpm: 1_000_001 }), invalid);
  t.same(await deploy({ ...RULES, maxAgeS: 0 }), selector('InvalidRules()'));
  for (const id of [0, 257])
    t.same(await setSigner(contract, { ...A, id }), {
      ok: false,
      error: selector('InvalidSigner(address,uint16)'),
    });
  t.match(await contract.call('transferOwnership(address)', word(BigInt(stranger))), { ok: true });
  t.match(await setSigner(contract, A), { ok: true }, 'until the heir accepts nothing has changed');
  t.match(await contract.call('acceptOwnership()', '', stranger), { ok: true });
  t.same(await setSigner(contract, A), notOwner);
});
