import { execFile } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { test } from 'tap';
import { registerCheckConfig } from '../../src/cli/check_config_command.js';
import { makeCertificate } from '../certificate.js';
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

/** Yields files with a secret as a value, as a key, or after a syntax error in the YAML. */
function* badConfigs(secret: string): Generator<string> {
  for (const quoted of [secret, `"${secret}"`, `'${secret}'`]) {
    yield `keys: { evm: { file: ${quoted} } }`;
    yield `keys: { evm: { env: ${quoted} } }`;
    yield `keys: { evm: { hex: ${quoted} } }`;
    yield `keys: { evm: ${quoted} }`;
    yield `keys: ${quoted}`;
    yield `keys: { ${quoted}: evm }`;
    yield `keys: { evm: { file: evm.hex, ${quoted}: 1 } }`;
    for (const token of [
      `{ name: a, token: ${quoted}, scopes: [rest] }`,
      `{ name: a, sha256: ${quoted}, scopes: [rest] }`,
      `{ name: a, sha256: [${quoted}], scopes: [rest] }`,
      `{ name: a, sha256: "${'ab'.repeat(32)}", scopes: [${quoted}] }`,
      `{ name: a, sha256: "${'ab'.repeat(32)}", scopes: [rest], publisher_keys: [${quoted}] }`,
      `{ ${quoted}: a }`,
      quoted,
    ])
      yield `${GOOD_KEYS}\ntokens: [ ${token} ]`;
    yield `${GOOD_KEYS}\ntokens: { a: ${quoted}, a: ${quoted} }`;
    yield `${GOOD_KEYS}\npublishers: [ { key: ${quoted} } ]`;
    yield `${GOOD_KEYS}\n${quoted}`;
    yield `${GOOD_KEYS}\n${quoted}:`;
    yield `${GOOD_KEYS} ${quoted}`;
    yield `${GOOD_KEYS}\n...\n${quoted}`;
    yield `${GOOD_KEYS}\nlisten: { tls: { cert_file: ${quoted}, key_file: ${quoted} } }`;
  }
  for (const broken of [
    `!${secret} x`,
    `!!${secret} x`,
    `!<${secret}> x`,
    `*${secret}`,
    `&${secret}`,
    `"${secret}`,
    `'${secret}`,
    `"\\q${secret}"`,
    `@${secret}`,
    `\`${secret}`,
    `| ${secret}\n    x`,
    `>${secret}\n    x`,
    `a: ${secret}: b`,
    `[${secret}`,
    `{${secret}`,
    `]${secret}`,
    `}${secret}`,
    `- ${secret}`,
    `\t${secret}`,
    `? ${secret}`,
    `\u0000${secret}`,
  ]) {
    yield `keys: { evm: ${broken} }`;
    yield `keys:\n  evm: ${broken}`;
    yield `${GOOD_KEYS}\n${broken}`;
  }
  yield `%${secret}\n---\n${GOOD_KEYS}\n`;
  yield `%TAG ! ${secret}\n---\n${GOOD_KEYS}\n`;
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
  t.ok(errors > 400, `${errors} configurations with an error`);
});

test('no error about a key file, a TLS file or a variable shows its contents', async (t) => {
  const dir = t.testdir();
  const file = join(dir, 'config.yaml');
  const check = async (text: string) => {
    writeFileSync(file, text);
    const { err, exitCode } = await run(registerCheckConfig, 'check-config', file);
    t.same(secretsIn(err, WRITINGS), [], err);
    return exitCode;
  };
  const keyFile = join(dir, 'evm.hex');
  for (const text of [
    ...SECRETS,
    `${hex}\n${hex}`,
    `key=${hex}`,
    `"${hex}"`,
    `${hex} # ours`,
    `\uFEFF${hex}`,
  ]) {
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
  writeFileSync(keyFile, hex, { mode: 0o600 });
  chmodSync(keyFile, 0o600);
  const missing = makeCertificate(dir, 'tls');
  if (missing !== undefined) return t.comment(`skipped: ${missing}`);
  const withTls = `${GOOD_KEYS}\nlisten: { tls: { cert_file: tls.pem, key_file: tls.key } }`;
  t.equal(await check(withTls), 0);
  for (const text of [pem, `-----BEGIN PRIVATE KEY-----\n${base64}\n-----END PRIVATE KEY-----\n`, hex]) {
    writeFileSync(join(dir, 'tls.key'), text);
    t.equal(await check(withTls), 2);
  }
});

test('no error of a command shows a secret that it was given', async (t) => {
  const dir = t.testdir({ 'open.hex': hex });
  chmodSync(join(dir, 'open.hex'), 0o644);
  const nobody = ['--url', 'ws://127.0.0.1:9'];
  const commands: (readonly string[])[] = [
    ['publish', `--tokn=${TOKEN}`],
    ['publish', `--token=${TOKEN}`, `--keys=${hex}`],
    ['publish', '--token', TOKEN, '--key', hex.slice(1), 'A=1'],
    ['publish', '--token', TOKEN, '--key', join(dir, 'open.hex'), 'A=1'],
    ['publish', '--token', TOKEN, '--key', '00'.repeat(32), ...nobody, hex],
    ['publish', '--token', TOKEN, '--key', hex, ...nobody, 'A=1'],
    ['subscribe', '--token', TOKEN, ...nobody, 'A'],
    ['subscribe', '--token', TOKEN, '--count', 'x', 'A'],
    ['subscribe', `-t=${TOKEN}`, 'A'],
    ['serve', `--token=${TOKEN}`],
    ['verify', `--key=${hex}`],
    ['keygen', `--key=${hex}`],
    ['token', `--token=${TOKEN}`],
  ];
  const results = await Promise.all(
    commands.map((args) => promisify(execFile)(process.execPath, [MAIN, ...args]).catch((error) => error)),
  );
  for (const [i, { code, stdout, stderr }] of results.entries()) {
    t.ok(code > 0, commands[i]!.slice(0, 1).join(' '));
    t.same(secretsIn(stdout + stderr, WRITINGS), [], stderr);
  }
});
