import { createHash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { parse } from 'yaml';
import { registerCheckConfig } from '../../src/cli/check_config_command.js';
import { addressOf, publicKeyText, registerKeygen } from '../../src/cli/keygen_command.js';
import { registerToken } from '../../src/cli/token_command.js';
import { parseConfig } from '../../src/config/load.js';
import { loadKeys, parsePrivateKey } from '../../src/config/private_keys.js';
import { IDS_FILE, StreamingIds } from '../../src/log/store/streaming_ids.js';
import { run } from './run_command.js';

test('public keys are those of the vectors', async (t) => {
  const evm = parsePrivateKey('0x8b558d5fc31eb64bb51d44b4b28658180e96764d5d5ac68e6d124f86f576d9de', 'evm')!;
  t.equal(addressOf(evm).toLowerCase(), '0x99e295e85cb07c16b7bb62a44df532a7f2620237');
  const stark = parsePrivateKey(
    '0x66253bdeb3c1a235cf4376611e3a14474e2c00fd2fb225f9a388faae7fb095a',
    'stark',
  )!;
  t.equal(
    publicKeyText('stark', stark),
    '0x0418d3fd8219a2cf32a00d458f61802d17f01c5bcde5a4f82008ee4a7c8e9a06',
  );
});

test('without --out the key is printed with its public side', async (t) => {
  const printed =
    /^private key: (0x[0-9a-f]{64})\n(?:address|public key): (0x[0-9a-fA-F]+)\nin the configuration, as a publisher: (.*)\n$/;
  const evm = await run(registerKeygen, 'keygen');
  t.equal(evm.exitCode, 0);
  const [, key = '', address, entry = ''] = printed.exec(evm.out)!;
  t.equal(address, addressOf(parsePrivateKey(key, 'evm')!));
  t.same(parse(entry), [{ key: address, assets: ['*'] }]);
  const stark = await run(registerKeygen, 'keygen', 'stark');
  const [, starkKey = '', publicKey, starkEntry = ''] = printed.exec(stark.out)!;
  t.equal(publicKey, publicKeyText('stark', parsePrivateKey(starkKey, 'stark')!));
  t.same(parse(starkEntry), [{ key: publicKey, signature_type: 'stark', assets: ['*'] }]);
});

test('--out makes a file that serve accepts, and replaces none', async (t) => {
  const folder = t.testdir();
  const file = join(folder, 'keys/stark.hex');
  const { out, exitCode } = await run(registerKeygen, 'keygen', 'stark', '--out', file);
  t.equal(exitCode, 0);
  t.equal(statSync(file).mode & 0o777, 0o600);
  const text = readFileSync(file, 'utf8');
  t.notMatch(out, text.trim(), 'the key itself is not printed');
  const evm = join(folder, 'evm.hex');
  await run(registerKeygen, 'keygen', 'evm', '--out', evm);
  t.ok(loadKeys({ keys: { evm: { file: evm }, stark: { file } } }, '/', {}).ok);

  t.same(await run(registerKeygen, 'keygen', 'stark', '--out', file), {
    out: '',
    err: `${file}: cannot be written: there is a file or folder of that name already; no key was made\n`,
    exitCode: 1,
  });
  t.equal(readFileSync(file, 'utf8'), text);
});

test('a token of 256 bits and the entry that lets it in', async (t) => {
  const names = ['alice', `Bob's "bot": #1`];
  const tokens: string[] = [];
  for (const name of names) {
    const { out, err, exitCode } = await run(registerToken, 'token', '--name', name);
    t.same([err, exitCode], ['', 0]);
    const token = /^[\w-]{43}$/m.exec(out)?.[0] ?? '';
    t.equal(Buffer.from(token, 'base64url').length, 32);
    const result = parseConfig(`keys: { evm: { env: K } }\n${out.slice(out.indexOf('tokens:'))}`, 'c');
    t.match(result, {
      config: { tokens: [{ name, sha256: createHash('sha256').update(token).digest() }] },
    });
    tokens.push(token);
  }
  t.not(tokens[0], tokens[1]);
});

test('a name that the configuration would refuse is refused', async (t) => {
  const unnamed = await run(registerToken, 'token', '--name', '');
  t.match(unnamed, { out: '', err: /^--name: expected a name/, exitCode: 2 });
});

/** The content of a folder: texts, and folders. */
interface Files {
  [name: string]: string | Files;
}

/** Runs `check-config` on a configuration beside its key, with further files. @returns the result, without the path of the folder */
async function check(t: Test, text: string, more: Files = {}) {
  const folder = t.testdir({ 'config.yaml': text, ...more });
  writeFileSync(join(folder, 'evm.hex'), '11'.repeat(32), { mode: 0o600 });
  const result = await run(registerCheckConfig, 'check-config', join(folder, 'config.yaml'));
  const shown = (output: string) => output.replaceAll(`${folder}/`, '');
  return { ...result, out: shown(result.out), err: shown(result.err), folder };
}

const KEYS = 'keys: { evm: { file: evm.hex } }\n';

test('each error or warning of a file is printed at its place', async (t) => {
  const meaning =
    'config.yaml:3:12 assets[0].id: 1 means B (evm) here, and has meant A (evm) under taxonomy_id 1: raise service.taxonomy_id, or give B an ID that was never used\n';
  const rows: readonly [text: string, exitCode: number, err: string][] = [
    ['', 0, ''],
    [
      'nope: 1\nadmin: { port: x }\n',
      2,
      'config.yaml:2:1 nope: unknown key\nconfig.yaml:3:10 admin.port: expected a number, found "x"\n',
    ],
    ['storage: { dir: data }\nassets: [{ id: 1, symbol: B }]\n', 2, meaning],
  ];
  const known = t.testdir({});
  StreamingIds.read(known).add(1, [{ id: 1, symbol: 'A', signatureType: 'evm' }]);
  const ids = readFileSync(join(known, IDS_FILE), 'utf8');
  for (const [text, exitCode, err] of rows)
    t.match(await check(t, KEYS + text, { data: { [IDS_FILE]: ids } }), {
      out: exitCode === 0 ? 'config.yaml: ok\n' : '',
      err,
      exitCode,
    });
  t.match(await check(t, `${KEYS}admin: { host: "::" }\n`), {
    out: 'config.yaml: ok\n',
    err: 'warning: config.yaml:2:10 admin.host: the admin listener asks for no token, and :: may be reached',
    exitCode: 0,
  });
  const missing = await run(registerCheckConfig, 'check-config', join(known, 'nope.yaml'));
  t.match(missing, { err: /cannot be read: there is no such file/, exitCode: 2 });
});

test('a host that this machine does not have is named, and fails the check', async (t) => {
  // 192.0.2.0/24 (TEST-NET-1, RFC 5737): no machine has such an address.
  const hosts = 'listen: { host: 192.0.2.7 }\nadmin: { host: nowhere.invalid }\n';
  const { out, err, exitCode } = await check(t, KEYS + hosts);
  t.same({ out, exitCode }, { out: '', exitCode: 1 });
  t.match(err, /config\.yaml:2:11 listen\.host: no interface .* has the address of 192\.0\.2\.7; 0\.0\.0\.0/);
  t.match(err, /config\.yaml:3:10 admin\.host: the name nowhere\.invalid has no address; is it spelled/);
});
