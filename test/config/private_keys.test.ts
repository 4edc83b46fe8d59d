import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import type { Config } from '../../src/config/config.js';
import { loadKeys, parsePrivateKey } from '../../src/config/private_keys.js';

/** A private key of each curve. */
const EVM_KEY = '8b558d5fc31eb64bb51d44b4b28658180e96764d5d5ac68e6d124f86f576d9de';
const STARK_KEY = '066253bdeb3c1a235cf4376611e3a14474e2c00fd2fb225f9a388faae7fb095a';
const EVM_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const STARK_ORDER = 0x0800000000000010ffffffffffffffffb781126dcae7b2321e66a241adc64d2fn;
const digits = (value: bigint) => value.toString(16).padStart(64, '0');

const load = (keys: Config['keys'], baseDir = '/', env = {}) => loadKeys({ keys }, baseDir, env);

test('a private key is 32 bytes of hex within 1..n-1 of its curve', async (t) => {
  const right = [
    ['evm', `0x${EVM_KEY.toUpperCase()}\n`],
    ['evm', digits(1n)],
    ['evm', digits(EVM_ORDER - 1n)],
    ['stark', `0x${STARK_KEY.slice(1)}`],
    ['stark', digits(STARK_ORDER - 1n)],
  ] as const;
  for (const [type, text] of right) {
    const key = parsePrivateKey(text, type);
    t.equal(key?.length, 32, text);
    t.equal(key && BigInt(`0x${key.toString('hex')}`), BigInt(`0x${text.trim().replace('0x', '')}`), text);
  }
  const evm = ['', '0x', EVM_KEY.slice(1), `${EVM_KEY}0`, `0x0x${EVM_KEY.slice(2)}`, `${EVM_KEY.slice(1)}g`];
  for (const text of [...evm, digits(0n), digits(EVM_ORDER)])
    t.equal(parsePrivateKey(text, 'evm'), undefined);
  for (const text of [digits(STARK_ORDER), '0']) t.equal(parsePrivateKey(text, 'stark'), undefined, text);
});

test('keys come from files beside the configuration and from the environment', async (t) => {
  const folder = t.testdir();
  writeFileSync(join(folder, 'evm.hex'), `0x${EVM_KEY}\n`, { mode: 0o600 });
  const keys = { evm: { file: 'evm.hex' }, stark: { env: 'STARK' } };
  t.same(load(keys, folder, { STARK: STARK_KEY }), {
    ok: true,
    keys: { evm: Buffer.from(EVM_KEY, 'hex'), stark: Buffer.from(STARK_KEY, 'hex') },
  });
});

test('a key file that anyone but its owner can use is refused', async (t) => {
  const file = join(t.testdir(), 'evm.hex');
  writeFileSync(file, EVM_KEY);
  for (const mode of [0o600, 0o400, 0o700]) {
    chmodSync(file, mode);
    t.ok(load({ evm: { file } }).ok, mode.toString(8));
  }
  for (const mode of [0o640, 0o604, 0o620, 0o602]) {
    chmodSync(file, mode);
    const message = `${file} is open to its group or to others (mode 0${mode.toString(8)}); chmod 600 it`;
    t.same(load({ evm: { file } }), { ok: false, errors: [{ path: ['keys', 'evm', 'file'], message }] });
  }
});

test('an error names every bad key and shows no part of it', async (t) => {
  const folder = t.testdir();
  writeFileSync(join(folder, 'short.hex'), EVM_KEY.slice(1), { mode: 0o600 });
  const result = load({ evm: { file: 'short.hex' }, stark: { env: 'STARK' } }, folder, { STARK: EVM_KEY });
  const message = (type: string) =>
    `holds no ${type} key: expected 32 bytes of hex within 1..n-1 of its curve`;
  t.same(result, {
    ok: false,
    errors: [
      { path: ['keys', 'evm', 'file'], message: message('evm') },
      { path: ['keys', 'stark', 'env'], message: message('stark') },
    ],
  });
  for (const [source, expected] of [
    [{ env: 'EMPTY' }, 'the variable EMPTY is not set'],
    [
      { file: 'nope' },
      `${folder}/nope cannot be read: there is no such file; tickseal keygen evm --out FILE makes one`,
    ],
    [{ file: '.' }, `${folder} is not a file`],
  ] as const) {
    t.match(load({ evm: source }, folder, { EMPTY: '' }), { ok: false, errors: [{ message: expected }] });
  }
});
