import { test } from 'tap';
import { build } from './build.js';
import { Chain, type Deployed, type Hex } from './chain.js';
import { NATIVE_ECRECOVER } from './native_ecrecover.js';
import { ALL, bodyOf, E18, hexOf, keyOf, NS_PER_S, quorumUpdate, sign } from './payloads.js';
import { KEY, NO_TERMS, readerCode, START_S, TAXONOMY_ID } from './reader.js';

// Every byte of every input of a reader: flipped, cut, doubled, moved. Nothing changed may store a price.

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const ASSETS = [
  { id: 1, value: E18, status: 1, ageMs: 10, publishers: 3, spreadPpm: 40 },
  { id: 2, value: -E18, status: 2, ageMs: 10, publishers: 3, spreadPpm: 40 },
];
const NOW = { taxonomyId: TAXONOMY_ID, timestampNs: START_S * NS_PER_S, assets: ASSETS };

async function chainAt(timeS = START_S): Promise<Chain> {
  const chain = await Chain.create([NATIVE_ECRECOVER]);
  chain.timeS = timeS;
  return chain;
}

function readerOn(chain: Chain): Promise<Deployed> {
  return chain.deploy(readerCode, [TAXONOMY_ID, 60n, 30n, [KEY.address], NO_TERMS]);
}

/** Returns changes of an input: each byte flipped, every length, bytes doubled, and neighbours exchanged. */
function* changesOf(input: Uint8Array): Generator<Buffer> {
  const copy = () => Buffer.from(input);
  for (let at = 0; at < input.length; at++) {
    const flipped = copy();
    flipped[at]! ^= at % 2 === 0 ? 0x01 : 0x80;
    yield flipped;
    yield copy().subarray(0, at);
    yield copy().subarray(at + 1);
    yield Buffer.concat([copy().subarray(0, at + 1), copy().subarray(at)]);
    if (at > 0 && input[at] !== input[at - 1]) {
      const moved = copy();
      [moved[at - 1], moved[at]] = [input[at]!, input[at - 1]!];
      yield moved;
    }
  }
  yield Buffer.concat([input, input]);
  yield Buffer.concat([input, Buffer.alloc(18)]);
}

async function accepted(
  contract: Deployed,
  inputs: Iterable<Buffer>,
): Promise<{ tried: number; stored: number }> {
  let [tried, stored] = [0, 0];
  for (const input of inputs) {
    tried += 1;
    if ((await contract.call('update', [hexOf(input)])).ok) stored += 1;
  }
  return { tried, stored };
}

for (const mask of [undefined, ALL])
  test(`no changed byte of a payload is stored, mask ${mask ?? 'of the simplified layout'}`, async (t) => {
    const reader = await readerOn(await chainAt());
    const payload = sign(bodyOf({ ...NOW, ...(mask !== undefined && { mask }) }), KEY);
    const { tried, stored } = await accepted(reader, changesOf(payload));
    t.comment(`${tried} changes`);
    t.equal(stored, 0);
    t.match(await reader.call('update', [hexOf(payload)]), { ok: true });
  });

test('no changed byte of an update of a quorum is stored', async (t) => {
  const chain = await chainAt();
  const rules = { threshold: 2, maxSpreadPpm: 10_000, maxAgeS: 60, maxFutureS: 5 };
  const reader = await chain.deploy(build('TicksealQuorumReader.sol'), [rules, NO_TERMS]);
  const keys = [keyOf(1), keyOf(2)].sort((a, b) => (a.address < b.address ? -1 : 1));
  for (const [i, { address }] of keys.entries()) {
    await reader.call('setSigner', [address, i + 1, TAXONOMY_ID, 2n ** 64n - 1n]);
    await reader.call('setStreamingId', [900, i + 1, 1]);
  }
  const payloads = keys.map((key) => sign(bodyOf(NOW), key));
  const update = Buffer.from(quorumUpdate([900], payloads).slice(2), 'hex');
  const { tried, stored } = await accepted(reader, changesOf(update));
  t.comment(`${tried} changes`);
  t.equal(stored, 0);
  for (const signers of [
    [1, 0],
    [0, 0],
  ]) {
    const unordered = quorumUpdate(
      [900],
      signers.map((i) => payloads[i]!),
    );
    t.match(await reader.call('update', [unordered]), { ok: false, error: 'UnorderedSigners' });
  }
  t.match(await reader.call('update', [hexOf(update)]), { ok: true });
});

test('the forms of a signature', async (t) => {
  const reader = await readerOn(await chainAt());
  const payload = sign(bodyOf(NOW), KEY);
  const changed = (change: (copy: Buffer) => void): Hex => {
    const copy = Buffer.from(payload);
    change(copy);
    return hexOf(copy);
  };
  const invalid = { ok: false, error: 'InvalidSignature' };
  const highS = CURVE_ORDER - BigInt(`0x${payload.toString('hex', 32, 64)}`);
  const setS = (copy: Buffer, s: bigint) => copy.write(s.toString(16).padStart(64, '0'), 32, 'hex');
  for (const v of [0, 1])
    t.match(
      await reader.call('update', [changed((copy) => setS(copy, highS) && copy.writeUInt8(v, 64))]),
      invalid,
    );
  for (const v of [2, 27, 28])
    t.match(await reader.call('update', [changed((copy) => copy.writeUInt8(v, 64))]), invalid, `v ${v}`);
  for (const s of [0n, CURVE_ORDER, CURVE_ORDER - 1n])
    t.match(await reader.call('update', [changed((copy) => setS(copy, s))]), invalid, `s ${s}`);
  const other = changed((copy) => copy.writeUInt8(1 - copy[64]!, 64));
  t.match(await reader.call('update', [other]), { ok: false, error: /^(?:UnknownSigner|InvalidSignature)$/ });
});
