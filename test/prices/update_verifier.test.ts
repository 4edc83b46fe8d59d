import { test } from 'tap';
import type { CryptoPool } from '../../src/crypto/pool/pool.js';
import { createCryptoPool } from '../../src/crypto/pool/pool.js';
import type { Asset, SignatureType } from '../../src/model/asset.js';
import { NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';
import { type Candidate, Gate } from '../../src/prices/gate.js';
import { readPublishMessage } from '../../src/prices/message.js';
import { verifyCandidates } from '../../src/prices/update_verifier.js';
import { FakeClock } from '../clock/fake_clock.js';
import { START_NS, sampleAsset } from '../model/sample.js';
import { messageOf, type TestPublisher, testPublisher } from './harness.js';

const bitcoin = sampleAsset();
const starkBitcoin = sampleAsset({ index: 1, symbol: 'BTC-STARK', signatureType: 'stark' });
const evm = testPublisher(0);
const stark = testPublisher(1, 'stark', { oracleId: 'czowx' });
/** The order of the group of secp256k1. */
const N = BigInt('0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141');

const HASH = 'msg_hash does not match the asset, time and price';
const SIGNATURE = 'signature is not by publisher_key over this update';

function candidateOf(by: TestPublisher, asset: Asset, price = 5n): Candidate {
  const gate = new Gate({ findAsset: () => asset, publisherByKey: () => by.publisher }, new FakeClock(), {
    maxPastNs: 60n * NS_PER_SECOND,
    maxFutureNs: 0n,
    maxBackwardNs: 0n,
  });
  const message = readPublishMessage(messageOf(by, { [asset.symbol]: price }, START_NS), 10);
  if (!message.ok) throw new Error(message.error);
  const all = { identity: 'alice', mayPublishAs: () => true, maySee: () => true };
  const candidate = gate.admit(message.updates[0]!, asset.signatureType, all);
  if (typeof candidate === 'string') throw new Error(candidate);
  return candidate;
}

const goodEvm = candidateOf(evm, bitcoin, -72147681412670819000000n);
const goodStark = candidateOf(stark, starkBitcoin, 72147681412670819000000n);

/** Returns the same signature in its second form: s in the other half of the group, and the matching recovery bit. */
function highForm({ signature, recovery }: Candidate): Partial<Candidate> {
  const s = N - BigInt(`0x${signature.subarray(32).toString('hex')}`);
  const high = Buffer.from(s.toString(16).padStart(64, '0'), 'hex');
  return { signature: Buffer.concat([signature.subarray(0, 32), high]), recovery: (1 - recovery) as 0 | 1 };
}

function withRaw(candidate: Candidate, externalAssetId: string): Partial<Candidate> {
  return { raw: { ...candidate.raw, externalAssetId } };
}

const CASES: [SignatureType, string | undefined, Partial<Candidate>][] = [
  ['evm', undefined, {}],
  ['evm', undefined, { timestampNs: (START_NS + 999_999_999n) as TimeNs }],
  ['evm', HASH, { timestampNs: (START_NS + NS_PER_SECOND) as TimeNs }],
  ['evm', HASH, { price: 6n as Candidate['price'] }],
  ['evm', HASH, { publisher: testPublisher(5).publisher }],
  ['evm', HASH, { price: 6n as Candidate['price'], verified: true }],
  ['evm', SIGNATURE, { signature: candidateOf(evm, bitcoin, 6n).signature }],
  ['evm', 'signature r or s is out of range, or s is not low', highForm(goodEvm)],
  ['evm', 'signature r or s is out of range, or s is not low', { signature: Buffer.alloc(64) }],
  ['stark', undefined, {}],
  ['stark', undefined, withRaw(goodStark, goodStark.raw.externalAssetId.replace('0x', '0x000'))],
  ['stark', HASH, { timestampNs: (START_NS + NS_PER_SECOND) as TimeNs }],
  ['stark', HASH, { price: 6n as Candidate['price'] }],
  ['stark', 'external_asset_id names another asset', { asset: sampleAsset({ symbol: 'BTC-STARX' }) }],
  [
    'stark',
    'external_asset_id names another oracle than the publisher is configured with',
    withRaw(goodStark, `${goodStark.raw.externalAssetId.slice(0, -2)}79`),
  ],
  ['stark', SIGNATURE, { publisher: testPublisher(6, 'stark', { oracleId: 'czowx' }).publisher }],
  ['stark', SIGNATURE, { signature: Buffer.alloc(64) }],
];

test('each candidate gets its own verdict, alone and among others', async (t) => {
  const pool = await createCryptoPool({ threads: 0 });
  for (const type of ['evm', 'stark'] as const) {
    const cases = CASES.filter(([of]) => of === type);
    const these = cases.map(([, , change]) => ({ ...(type === 'evm' ? goodEvm : goodStark), ...change }));
    const expected = cases.map(([, refusal]) => refusal);
    for (const [i, candidate] of these.entries())
      t.same(await verifyCandidates([candidate], type, pool), [expected[i]], `${type} case ${i}`);
    t.same(await verifyCandidates(these, type, pool), expected);
    t.same(await verifyCandidates([], type, pool), []);
  }
});

test('an oracle that is not configured may be any, if the signature covers it', async (t) => {
  const pool = await createCryptoPool({ threads: 0 });
  const any = testPublisher(1, 'stark');
  t.same(await verifyCandidates([candidateOf(any, starkBitcoin)], 'stark', pool), [undefined]);
  const other = candidateOf(any, starkBitcoin);
  const renamed = { ...other, ...withRaw(other, `${other.raw.externalAssetId.slice(0, -2)}79`) };
  t.same(await verifyCandidates([renamed], 'stark', pool), [HASH]);
});

test('what is known to be right, or wrong by its hash, costs no curve arithmetic', async (t) => {
  const pool = await createCryptoPool({ threads: 0 });
  let jobs = 0;
  const counting: CryptoPool = {
    ...pool,
    verifyEvm: (these) => {
      jobs += these.length;
      return pool.verifyEvm(these);
    },
  };
  const wrong = { ...goodEvm, msgHash: Buffer.alloc(32, 1) };
  const refusals = await verifyCandidates([{ ...goodEvm, verified: true }, wrong, goodEvm], 'evm', counting);
  t.same(refusals, [undefined, HASH, undefined]);
  t.equal(jobs, 1);
});
