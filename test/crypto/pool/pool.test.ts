import { test } from 'tap';
import { createCryptoPool } from '../../../src/crypto/pool/pool.js';
import { secp256k1 } from '../../../src/crypto/secp256k1/secp256k1.js';
import { fieldNumber, starkPriceMessage } from '../../../src/crypto/stark/stark.js';
import { starkPublicKey } from '../../../src/crypto/stark/stark_ecdsa.js';
import type { Price } from '../../../src/model/price.js';
import type { TimeNs } from '../../../src/model/time.js';
import { evmJobs, evmVerdicts, inline, KEY } from './sample_jobs.js';

const digests = (count: number) => Buffer.concat(evmJobs.slice(0, count).map((job) => job.msgHash));
const evmSignatures = Buffer.concat(
  evmJobs.flatMap(({ msgHash }) => {
    const { signature, recovery } = secp256k1.sign(msgHash, KEY);
    return [signature, Uint8Array.of(recovery)];
  }),
);
const messages = Array.from(
  { length: 60 },
  (_, i) => starkPriceMessage('BTCUSD', 'abcde', BigInt(i * 1e9) as TimeNs, (10n ** 23n) as Price)!,
);
const STARK_KEY = Buffer.alloc(32, 1);
const STARK_PUBLIC_KEY = starkPublicKey(fieldNumber(STARK_KEY));

/** Options without a deadline, because a thread on a busy machine may get no core for longer than a task may take. */
const NO_DEADLINE = { repeat: () => () => {} };

test('one digest alone gets the signature that it gets among many', async (t) => {
  const many = inline.signEvm(digests(3), KEY);
  for (let i = 0; i < 3; i++) {
    const one = inline.signOneEvm(evmJobs[i]!.msgHash, KEY);
    t.same([...one], [...evmSignatures.subarray(65 * i, 65 * (i + 1))]);
    t.same([...many], [...evmSignatures.subarray(0, 65 * 3)], 'the others stay as they are');
  }
  t.throws(() => inline.signOneEvm(digests(1), Buffer.alloc(32)), RangeError);
});

test('two threads, one or none give the same results for few and for many', async (t) => {
  for (const threads of [2, 1, 0]) {
    const pool = await createCryptoPool({ threads, ...NO_DEADLINE });
    if (threads < 2) await pool.warmStark();
    for (const count of [0, 1, 2, 7, 33, 200]) {
      t.same(await pool.verifyEvm(evmJobs.slice(0, count)), evmVerdicts.slice(0, count));
      t.same(Buffer.from(await pool.signEvm(digests(count), KEY)), evmSignatures.subarray(0, 65 * count));
    }
    for (const count of [0, 1, 2, 60]) {
      const some = messages.slice(0, count);
      const signatures = await pool.signStark(some, STARK_KEY);
      t.same(plain(signatures), plain(inline.signStark(some, STARK_KEY)));
      const claims = some.map((message, i) => ({
        ...message,
        ...signatures[i]!,
        publicKey: STARK_PUBLIC_KEY,
      }));
      // The verdicts must come back in order. So each message occurs once with its own signature, and once with its neighbour's
      // signature.
      const shifted = claims.map((claim, i) => ({ ...claim, ...some[(i + 1) % count]! }));
      const expected = claims.map(() => 'valid');
      t.same(await pool.verifyStark([...claims, ...shifted]), [
        ...expected,
        ...shifted.map(() => (count === 1 ? 'valid' : 'hash mismatch')),
      ]);
    }
    t.equal(pool.queued, 0);
    t.equal(pool.failures, 0);
    await pool.close();
  }
});

test('closing waits for running work; later work runs on the calling thread', async (t) => {
  const pool = await createCryptoPool({ threads: 2, ...NO_DEADLINE });
  const underWay = Array.from({ length: 10 }, () => pool.verifyEvm(evmJobs));
  await pool.close();
  t.equal(pool.queued, 0);
  for (const verdicts of await Promise.all(underWay)) t.same(verdicts, evmVerdicts);
  t.same(pool.verifyEvm(evmJobs), evmVerdicts);
  t.equal(pool.failures, 0);
  await pool.close();
});

test('threads that cannot start leave everything to the calling thread', async (t) => {
  const pool = await createCryptoPool({ threads: 2, workerFile: './no_such_worker.js' });
  t.ok(pool.failures > 0);
  t.same(await pool.verifyEvm(evmJobs), evmVerdicts);
  await pool.close();
});

test('an invalid key is an error on every thread', async (t) => {
  const pool = await createCryptoPool({ threads: 1, ...NO_DEADLINE });
  t.throws(() => pool.signEvm(digests(1), Buffer.alloc(32)), RangeError);
  await t.rejects(async () => pool.signEvm(digests(200), Buffer.alloc(32)), RangeError);
  t.equal(pool.queued, 0);
  await pool.close();
});

/** Converts results to text, so that a comparison ignores the type of their byte arrays. */
function plain(results: readonly object[]): string[] {
  return results.map((result) =>
    Object.entries(result)
      .map(
        ([name, value]) =>
          `${name} ${value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value}`,
      )
      .join(),
  );
}
