import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { eip191, evmAddress, evmPriceHash } from '../../../src/crypto/evm.js';
import type { EvmVerifyJob } from '../../../src/crypto/evm_verifier.js';
import { createCryptoJobs } from '../../../src/crypto/pool/jobs.js';
import { createCryptoPool } from '../../../src/crypto/pool/pool.js';
import { secp256k1 } from '../../../src/crypto/secp256k1/secp256k1.js';
import { fieldNumber, starkPriceMessage } from '../../../src/crypto/stark/stark.js';
import { starkPublicKey } from '../../../src/crypto/stark/stark_ecdsa.js';
import type { Price } from '../../../src/model/price.js';
import type { TimeNs } from '../../../src/model/time.js';
import { createFaultyPool } from '../faulty_pool.js';

const KEY = Buffer.alloc(32, 3);
const ADDRESS = evmAddress(secp256k1.publicKey(KEY));
const inline = createCryptoJobs();

/** Every third one is damaged. */
const evmJobs: EvmVerifyJob[] = Array.from({ length: 200 }, (_, i) => {
  const msgHash = evmPriceHash(ADDRESS, 'BTCUSD', BigInt(i * 1e9) as TimeNs, 10n as Price);
  const { signature, recovery } = secp256k1.sign(eip191(msgHash), KEY);
  return { msgHash, signature, recovery, address: i % 3 === 0 ? Buffer.alloc(20, i) : ADDRESS };
});
const evmVerdicts = inline.verifyEvm(evmJobs);
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

/** On a busy machine a thread may get no core for longer than a task may take. */
const NO_DEADLINE = { repeat: () => () => {} };

test('the expected verdicts are right', async (t) => {
  evmVerdicts.forEach((verdict, i) => {
    t.equal(verdict, i % 3 === 0 ? 'invalid signature' : 'valid');
  });
});

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
      // The verdicts must come back in order, so each message is claimed once for itself and once for its neighbour.
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

test('a small batch returns an array, a large one a promise', async (t) => {
  const pool = await createCryptoPool({ threads: 1, ...NO_DEADLINE });
  t.ok(Array.isArray(pool.verifyEvm(evmJobs.slice(0, 2))));
  const many = pool.verifyEvm(evmJobs);
  t.ok(many instanceof Promise);
  t.equal(pool.queued, evmJobs.length);
  await many;
  t.equal(pool.queued, 0);
  await pool.close();
});

test('many batches at once each get their own results', async (t) => {
  const pool = await createCryptoPool({ threads: 2, ...NO_DEADLINE });
  const batches = Array.from({ length: 50 }, (_, i) => evmJobs.slice(i, i + 20));
  const results = await Promise.all(batches.map((jobs) => pool.verifyEvm(jobs)));
  results.forEach((verdicts, i) => {
    t.same(verdicts, evmVerdicts.slice(i, i + 20));
  });
  await pool.close();
});

test('a small batch does not wait for all of a large one that came before', async (t) => {
  const pool = await createCryptoPool({ threads: 1, ...NO_DEADLINE });
  const large = Array.from({ length: 2_000 }, (_, i) => evmJobs[i % evmJobs.length]!);
  const done: string[] = [];
  const results = await Promise.all(
    Object.entries({ large, small: evmJobs.slice(0, 20), last: evmJobs.slice(0, 30) }).map(
      async ([name, jobs]) => {
        const verdicts = await pool.verifyEvm(jobs);
        done.push(name);
        return verdicts;
      },
    ),
  );
  t.same(done, ['small', 'last', 'large']);
  t.same(
    results[0],
    Array.from({ length: 2_000 }, (_, i) => evmVerdicts[i % evmJobs.length]!),
  );
  await pool.close();
});

test('batches that waited come back each with their own results, whoever did them', async (t) => {
  const pool = await createCryptoPool({ threads: 1, ...NO_DEADLINE });
  let running = 0;
  let apart = 0;
  const check = async (count: number, from: number) => {
    running++;
    const verdicts = await pool.verifyEvm(evmJobs.slice(from, from + count));
    running--;
    if (running > 0) apart++;
    t.same(verdicts, evmVerdicts.slice(from, from + count));
  };
  const claims = messages.map((message, i) => ({
    ...message,
    ...inline.signStark([message], STARK_KEY)[0]!,
    publicKey: i % 2 === 0 ? STARK_PUBLIC_KEY : Buffer.alloc(32, 1),
  }));
  const expected = inline.verifyStark(claims);
  t.same(new Set(expected), new Set(['valid', 'invalid signature']));
  const evm = Array.from({ length: 60 }, (_, i) => check(6 + (i % 50), i));
  const stark = Array.from({ length: 4 }, async () => t.same(await pool.verifyStark(claims), expected));
  await Promise.all([...evm, ...stark]);
  t.ok(apart > 0, 'they did not end all at once');
  t.equal(pool.queued, 0);
  t.equal(pool.failures, 0);
  await pool.close();
});

test('the calling thread goes on while a thread hangs, and leaves the jobs of that thread alone', async (t) => {
  const { pool, hang, hanging, expire } = await createFaultyPool(1);
  hang(2);
  const hung = pool.verifyEvm(evmJobs.slice(0, 40));
  const refused = t.rejects(async () => hung, { name: 'ThreadHung' });
  await hanging(1);
  t.same(await pool.verifyEvm(evmJobs), evmVerdicts);
  t.equal(pool.queued, 40);
  expire();
  await hanging(0);
  t.same(await pool.verifyEvm(evmJobs), evmVerdicts);
  expire();
  await refused;
  t.equal(pool.queued, 0);
  await pool.close();
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

for (const [crashes, threads] of [
  [1, 1],
  [2, 1],
  [2, 2],
  [7, 2],
] as const) {
  test(`${threads} threads that crash ${crashes} times lose no job`, async (t) => {
    const { pool, crash, crashesLeft } = await createFaultyPool(threads);
    crash(crashes);
    // While the threads start again, the calling thread does waiting work, so one burst may meet few crashes.
    while (crashesLeft() > 0) {
      const batches = Array.from({ length: 6 }, (_, i) => evmJobs.slice(i, i + 120));
      const results = await Promise.all(batches.map((jobs) => pool.verifyEvm(jobs)));
      results.forEach((verdicts, i) => {
        t.same(verdicts, evmVerdicts.slice(i, i + 120));
      });
    }
    t.equal(pool.failures, crashes);
    const after = pool.verifyEvm(evmJobs);
    t.ok(after instanceof Promise, 'the pool goes on with fresh threads');
    t.same(await after, evmVerdicts);
    t.equal(pool.failures, crashes);
    await pool.close();
  });
}

for (const threads of [1, 2]) {
  test(`${threads} threads, of which one hangs: its jobs are done by another, and it is replaced`, async (t) => {
    const { pool, hang, hanging, expire } = await createFaultyPool(threads);
    hang(1);
    const batches = Array.from({ length: 6 }, (_, i) => evmJobs.slice(i, i + 120));
    const verdicts = Promise.all(batches.map((jobs) => pool.verifyEvm(jobs)));
    await hanging(0);
    // The other thread and the calling thread do all work except that of the hanging thread.
    await eventually(() => pool.queued === (threads === 1 ? 120 : 60));
    expire();
    for (const [i, ofBatch] of (await verdicts).entries()) t.same(ofBatch, evmVerdicts.slice(i, i + 120));
    t.equal(pool.failures, 1);
    const after = pool.verifyEvm(evmJobs);
    t.ok(after instanceof Promise, 'the pool goes on with a fresh thread');
    t.same(await after, evmVerdicts);
    t.equal(pool.failures, 1);
    await pool.close();
  });
}

test('jobs with which two threads hang are refused, and closing waits no longer than that', async (t) => {
  const { pool, hang, hanging, hangsLeft, expire } = await createFaultyPool(1);
  const onePiece = evmJobs.slice(0, 100);
  const verdicts = evmVerdicts.slice(0, 100);
  hang(2);
  const refused = t.rejects(async () => pool.verifyEvm(onePiece), { name: 'ThreadHung' });
  for (const left of [1, 0]) {
    await hanging(left);
    expire();
  }
  await refused;
  t.equal(pool.queued, 0);
  t.same(await pool.verifyEvm(onePiece), verdicts);
  hang(2);
  const refusedAtTheEnd = t.rejects(async () => pool.verifyEvm(onePiece), { name: 'ThreadHung' });
  const behind = pool.verifyEvm(onePiece);
  await hanging(1);
  const closed = pool.close();
  expire();
  await closed;
  await refusedAtTheEnd;
  t.same(await behind, verdicts, 'what waited behind it is done on the calling thread');
  t.equal(hangsLeft(), 1, 'no second thread is lost to it at the end');
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

/** Returns bytes as text, to compare them whatever their buffer. */
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
