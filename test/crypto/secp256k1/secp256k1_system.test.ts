import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { keccak256 } from '../../../src/crypto/keccak.js';
import { loadSystemSecp256k1 } from '../../../src/crypto/secp256k1/secp256k1_system.js';
import { ROOT } from '../../pages.js';

const CURVE_MODULE = new URL('../../../src/crypto/secp256k1/secp256k1.js', import.meta.url).href;
const VARIABLE = 'TICKSEAL_SECP256K1_LIBRARY';

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
  const others: unknown[] = [undefined, 'a'.repeat(32), new Array(32).fill(1), new ArrayBuffer(32)];
  for (const wrong of others) {
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
