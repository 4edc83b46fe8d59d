import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { parse } from 'yaml';
import { addressOf, registerKeygen, starkKeyOf } from '../../src/cli/keygen_command.js';
import { loadKeys, parsePrivateKey } from '../../src/config/private_keys.js';
import { run } from './run.js';

test('public keys are those of the vectors', async (t) => {
  const evm = parsePrivateKey('0x8b558d5fc31eb64bb51d44b4b28658180e96764d5d5ac68e6d124f86f576d9de', 'evm')!;
  t.equal(addressOf(evm).toLowerCase(), '0x99e295e85cb07c16b7bb62a44df532a7f2620237');
  const stark = parsePrivateKey(
    '0x66253bdeb3c1a235cf4376611e3a14474e2c00fd2fb225f9a388faae7fb095a',
    'stark',
  )!;
  t.equal(starkKeyOf(stark), '0x0418d3fd8219a2cf32a00d458f61802d17f01c5bcde5a4f82008ee4a7c8e9a06');
  // This is the address of the private key 1, in EIP-55's mixed case, as wallets show it.
  t.equal(
    addressOf(Buffer.from('01'.padStart(64, '0'), 'hex')),
    '0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf',
  );
});

test('without --out the key is printed with its public side', async (t) => {
  for (const args of [[], ['evm']]) {
    const { out, exitCode } = await run(registerKeygen, 'keygen', ...args);
    const [, key, address, line] =
      /^private key: (0x[0-9a-f]{64})\naddress: (0x[0-9a-fA-F]{40})\nin the configuration, as a publisher: (.*)\n$/.exec(
        out,
      ) ?? [];
    t.equal(exitCode, 0);
    t.equal(address, addressOf(parsePrivateKey(key!, 'evm')!));
    t.same(parse(line!), [{ key: address, assets: ['*'] }]);
  }
  const { out } = await run(registerKeygen, 'keygen', 'stark');
  const [, key, publicKey, line] =
    /^private key: (0x[0-9a-f]{64})\npublic key: (0x[0-9a-f]{64})\nin the configuration, as a publisher: (.*)\n$/.exec(
      out,
    ) ?? [];
  t.equal(publicKey, starkKeyOf(parsePrivateKey(key!, 'stark')!));
  t.same(parse(line!), [{ key: publicKey, signature_type: 'stark', assets: ['*'] }]);
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
  writeFileSync(join(folder, 'plain'), '');
  t.match(await run(registerKeygen, 'keygen', 'evm', '--out', join(folder, 'plain/x')), {
    exitCode: 1,
    err: /plain is not a folder; no key was made/,
  });
});

test('an unknown type is refused', async (t) => {
  t.match(await run(registerKeygen, 'keygen', 'rsa'), {
    out: '',
    err: /Allowed choices are evm, stark/,
    exitCode: 1,
  });
});
