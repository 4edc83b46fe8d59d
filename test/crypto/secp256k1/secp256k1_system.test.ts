import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { test } from 'tap';
import { keccak256 } from '../../../src/crypto/keccak.js';
import { nobleSecp256k1 } from '../../../src/crypto/secp256k1/secp256k1_noble.js';
import { loadSystemSecp256k1 } from '../../../src/crypto/secp256k1/secp256k1_system.js';
import { ROOT } from '../../pages.js';

const CURVE_MODULE = new URL('../../../src/crypto/secp256k1/secp256k1.js', import.meta.url).href;
const VARIABLE = 'TICKSEAL_SECP256K1_LIBRARY';
const THREADS = 3;
const SIGNATURES_OF_A_THREAD = 200;

const { curve, library, problem } = loadSystemSecp256k1(undefined);
/** Continuous integration installs the library, so none of these tests is skipped there. */
const needsLibrary =
  curve === undefined && !process.env['CI'] ? { skip: 'no libsecp256k1 on this machine' } : {};

test('the library of this machine is found, checked and in use', needsLibrary, async (t) => {
  t.equal(problem, undefined);
  t.equal(curve?.implementation, 'system');
  t.match(library, /^libsecp256k1\./);
  t.same(chosenWith({ [VARIABLE]: '' }), { implementation: 'system', library });
  t.same(chosenWith({ [VARIABLE]: library! }), { implementation: 'system', library });
});

test('the library is not loaded where the environment says so', async (t) => {
  t.same(loadSystemSecp256k1('none'), {});
  t.not(chosenWith({ [VARIABLE]: 'none' }).implementation, 'system');
});

test('a library that cannot be used is named, and the service does without', async (t) => {
  const missing = join(t.testdir(), 'libsecp256k1.so');
  t.match(loadSystemSecp256k1(missing), { problem: `${missing} cannot be loaded: `, curve: undefined });
  const text = join(t.testdir(), 'text.so');
  writeFileSync(text, 'no library');
  t.match(loadSystemSecp256k1(text), { problem: `${text} cannot be loaded: `, curve: undefined });
  const { implementation, problem } = chosenWith({ [VARIABLE]: missing });
  t.not(implementation, 'system');
  t.match(problem, missing);
  // The C library exists, but it has no curve.
  const other = process.platform === 'darwin' ? 'libSystem.B.dylib' : 'libc.so.6';
  t.match(loadSystemSecp256k1(other), { problem: `${other} cannot be used: `, curve: undefined });
});

test('bytes of a wrong length never reach the library', needsLibrary, async (t) => {
  const { sign, recover, publicKey } = curve!;
  const [digest, key] = [keccak256(Buffer.from('digest')), keccak256(Buffer.from('key'))];
  const { signature, recovery } = sign(digest, key);
  for (const length of [0, 1, 31, 33, 64, 65, 1000]) {
    const wrong = Buffer.alloc(length, 1);
    t.throws(() => sign(wrong, key), RangeError);
    t.throws(() => sign(digest, wrong), RangeError);
    t.throws(() => publicKey(wrong), RangeError);
    t.throws(() => recover(wrong, signature, recovery), RangeError);
    if (length !== 64) t.throws(() => recover(digest, wrong, recovery), RangeError);
    if (length !== 64) t.throws(() => sign(digest, key, wrong), RangeError);
    if (length !== 65) t.throws(() => recover(digest, signature, recovery, wrong), RangeError);
  }
  for (const wrong of [
    undefined,
    null,
    'a'.repeat(32),
    32n,
    new Array(32).fill(1),
    { length: 32 },
    new ArrayBuffer(32),
  ]) {
    t.throws(() => sign(wrong as Uint8Array, key), TypeError);
    t.throws(() => recover(wrong as Uint8Array, signature, recovery), TypeError);
  }
  t.throws(() => sign(new Uint16Array(32) as unknown as Uint8Array, key), TypeError);
});

test('an array whose memory went to another thread is refused', needsLibrary, async (t) => {
  const digest = new Uint8Array(32);
  structuredClone(digest.buffer, { transfer: [digest.buffer] });
  t.throws(() => curve!.sign(digest, keccak256(Buffer.from('key'))), RangeError);
});

test('a recovery number other than 0 and 1 recovers nothing', needsLibrary, async (t) => {
  const digest = keccak256(Buffer.from('digest'));
  const { signature } = curve!.sign(digest, keccak256(Buffer.from('key')));
  for (const number of [2, 3, 4, -1, 255, 2 ** 32, 0.5, Number.NaN])
    t.equal(curve!.recover(digest, signature, number as 0 | 1), undefined, String(number));
});

test('views into larger and shared memory are read where they begin', needsLibrary, async (t) => {
  for (const memory of [new ArrayBuffer(200), new SharedArrayBuffer(200)]) {
    const bytes = (offset: number, length: number) => new Uint8Array(memory, offset, length);
    bytes(3, 32).set(keccak256(Buffer.from('digest')));
    bytes(41, 32).set(keccak256(Buffer.from('key')));
    const made = curve!.sign(bytes(3, 32), bytes(41, 32));
    const expected = nobleSecp256k1.sign(bytes(3, 32).slice(), bytes(41, 32).slice());
    t.same([...made.signature, made.recovery], [...expected.signature, expected.recovery]);
    const room = bytes(100, 65);
    t.equal(curve!.recover(bytes(3, 32), made.signature, made.recovery, room), room);
    t.same([...room], [...nobleSecp256k1.publicKey(bytes(41, 32).slice())]);
    t.same([...bytes(73, 27), ...bytes(165, 35)], new Array(62).fill(0), 'nothing beside it is written');
    curve!.sign(bytes(3, 32), bytes(41, 32), bytes(100, 64));
    t.same([...bytes(100, 65)], [...expected.signature, room[64]], 'nothing beside a signature is written');
  }
});

test('signatures stay as they are while many more are made', needsLibrary, async (t) => {
  const key = keccak256(Buffer.from('key'));
  const digests = Array.from({ length: 2000 }, () => randomBytes(32));
  const made = digests.map((digest) => curve!.sign(digest, key));
  const publicKey = Buffer.from(curve!.publicKey(key));
  t.ok(
    made.every(({ signature, recovery }, i) =>
      publicKey.equals(curve!.recover(digests[i]!, signature, recovery)!),
    ),
  );
});

test('several threads sign at once, each with its own library', needsLibrary, async (t) => {
  const script = `
    const { parentPort, workerData } = require('node:worker_threads');
    import(workerData.module).then(({ secp256k1 }) => {
      const key = Buffer.alloc(32, 7);
      const made = [];
      for (let i = 0; i < workerData.count; i++) made.push(Buffer.from(secp256k1.sign(Buffer.alloc(32, i), key).signature).toString('hex'));
      parentPort.postMessage({ implementation: secp256k1.implementation, made });
    });`;
  const answers = await Promise.all(
    Array.from({ length: THREADS }, () => {
      const worker = new Worker(script, {
        eval: true,
        execArgv: [],
        workerData: { module: CURVE_MODULE, count: SIGNATURES_OF_A_THREAD },
      });
      return new Promise<{ implementation: string; made: string[] }>((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
      });
    }),
  );
  const key = Buffer.alloc(32, 7);
  const expected = Array.from({ length: SIGNATURES_OF_A_THREAD }, (_, i) =>
    Buffer.from(curve!.sign(Buffer.alloc(32, i), key).signature).toString('hex'),
  );
  for (const { implementation, made } of answers) {
    t.equal(implementation, 'system');
    t.same(made, expected);
  }
});

/** Returns the implementation that a process with this environment chooses. */
function chosenWith(env: Record<string, string>): {
  implementation: string;
  library?: string;
  problem?: string;
} {
  const program = `
    const { secp256k1, systemSecp256k1 } = await import(${JSON.stringify(CURVE_MODULE)});
    const { library, problem } = systemSecp256k1();
    console.log(JSON.stringify({ implementation: secp256k1.implementation, library, problem }));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    cwd: ROOT,
  });
  return JSON.parse(stdout.toString() || JSON.stringify({ implementation: stderr.toString() }));
}
