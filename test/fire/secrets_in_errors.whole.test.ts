import { execFile } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { test } from 'tap';
import { registerCheckConfig } from '../../src/cli/check_config_command.js';
import { run } from '../cli/run_command.js';
import { secretsIn, writingsOf, writingsOfToken } from './secret_texts.js';

// Tests the errors of a configuration that has a secret in the wrong place, or a syntax error next to it.

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const KEY = Buffer.from('8b558d5fc31eb64bb51d44b4b28658180e96764d5d5ac68e6d124f86f576d9de', 'hex');
const TOKEN = 'RmL1FV_oNRnnxiaoQ3v8kTz5hWqY2eBcD7sJgUp9XtE';
const WRITINGS = [...writingsOf(KEY), ...writingsOfToken(TOKEN)];

const hex = KEY.toString('hex');
const base64 = KEY.toString('base64');
const decimal = String(BigInt(`0x${hex}`));
const pem = `-----BEGIN EC PRIVATE KEY----- ${base64} -----END EC PRIVATE KEY-----`;
/** A key in its usual forms, and with a missing digit or an additional digit. */
const KEYS = [hex, `0x${hex}`, hex.slice(1), `${hex}0`, `0x${hex.slice(0, 50)}`, base64, decimal, pem];
const SECRETS = [...KEYS, KEY.toString('base64url'), TOKEN];

const GOOD_KEYS = 'keys: { evm: { file: evm.hex } }';

/** Returns files with a secret as a value, as a key, or after a syntax error in the YAML. */
function badConfigs(secret: string): readonly string[] {
  const tokens = [
    `{ name: a, token: ${secret}, scopes: [rest] }`,
    `{ name: a, sha256: [${secret}], scopes: [rest] }`,
    `{ name: a, sha256: "${'ab'.repeat(32)}", scopes: [${secret}] }`,
    `{ ${secret}: a }`,
    secret,
  ];
  const broken = [
    '!SECRET x',
    '!<SECRET> x',
    '*SECRET',
    '"SECRET',
    '"\\qSECRET"',
    '@SECRET',
    '| SECRET\n    x',
  ];
  const structures = ['a: SECRET: b', '[SECRET', '}SECRET', '\tSECRET', '? SECRET', '\u0000SECRET'];
  return [
    `keys: { evm: { file: ${secret} } }`,
    `keys: { evm: { hex: ${secret} } }`,
    `keys: ${secret}`,
    `keys: { ${secret}: evm }`,
    ...tokens.map((token) => `${GOOD_KEYS}\ntokens: [ ${token} ]`),
    `${GOOD_KEYS}\ntokens: { a: ${secret}, a: ${secret} }`,
    `${GOOD_KEYS}\npublishers: [ { key: ${secret} } ]`,
    `${GOOD_KEYS}\n"${secret}":`,
    `${GOOD_KEYS} ${secret}`,
    `${GOOD_KEYS}\n...\n${secret}`,
    `${GOOD_KEYS}\nlisten: { tls: { cert_file: ${secret}, key_file: ${secret} } }`,
    ...[...broken, ...structures].flatMap((text) => [
      `keys: { evm: ${text.replace('SECRET', secret)} }`,
      `${GOOD_KEYS}\n${text.replace('SECRET', secret)}`,
    ]),
    `%${secret}\n---\n${GOOD_KEYS}\n`,
  ];
}

test('no error about a configuration shows a secret in it', async (t) => {
  const dir = t.testdir();
  const file = join(dir, 'config.yaml');
  writeFileSync(join(dir, 'evm.hex'), hex, { mode: 0o600 });
  let errors = 0;
  for (const secret of SECRETS) {
    for (const text of badConfigs(secret)) {
      writeFileSync(file, text);
      const { out, err, exitCode } = await run(registerCheckConfig, 'check-config', file);
      if (exitCode !== 0) errors++;
      const seen = secretsIn(out + err.replaceAll(file, ''), WRITINGS);
      if (seen.length > 0) t.fail(`${text}\n${err}`, { seen });
    }
  }
  t.ok(errors > 300, `${errors} configurations with an error`);
});

test('no error about a key file or a variable shows its contents', async (t) => {
  const dir = t.testdir();
  const file = join(dir, 'config.yaml');
  const check = async (text: string) => {
    writeFileSync(file, text);
    const { err, exitCode } = await run(registerCheckConfig, 'check-config', file);
    t.same(secretsIn(err, WRITINGS), [], err);
    return exitCode;
  };
  const keyFile = join(dir, 'evm.hex');
  for (const text of [...SECRETS, `${hex}\n${hex}`, `key=${hex}`, `\uFEFF${hex}`]) {
    for (const mode of [0o600, 0o644]) {
      writeFileSync(keyFile, text);
      chmodSync(keyFile, mode);
      const isGood = mode === 0o600 && [hex, `0x${hex}`].includes(text.replace('\uFEFF', ''));
      t.equal(await check(GOOD_KEYS), isGood ? 0 : 2, `a key file of mode ${mode.toString(8)}`);
    }
    process.env['TICKSEAL_TEST_KEY'] = text;
    await check('keys: { evm: { env: TICKSEAL_TEST_KEY } }');
    delete process.env['TICKSEAL_TEST_KEY'];
  }
});

test('no error of a command shows a secret that it was given', async (t) => {
  const dir = t.testdir({ 'open.hex': hex });
  chmodSync(join(dir, 'open.hex'), 0o644);
  const nobody = ['--url', 'ws://127.0.0.1:9'];
  const commands: (readonly string[])[] = [
    ['publish', `--tokn=${TOKEN}`],
    ['publish', '--token', TOKEN, '--key', hex.slice(1), 'A=1'],
    ['publish', '--token', TOKEN, '--key', join(dir, 'open.hex'), 'A=1'],
    ['publish', '--token', TOKEN, '--key', hex, ...nobody, 'A=1'],
    ['subscribe', '--token', TOKEN, ...nobody, 'A'],
    ['serve', `--token=${TOKEN}`],
    ['keygen', `--key=${hex}`],
  ];
  const results = await Promise.all(
    commands.map((args) => promisify(execFile)(process.execPath, [MAIN, ...args]).catch((error) => error)),
  );
  for (const [i, { code, stdout, stderr }] of results.entries()) {
    t.ok(code > 0, commands[i]!.slice(0, 1).join(' '));
    t.same(secretsIn(stdout + stderr, WRITINGS), [], stderr);
  }
});
