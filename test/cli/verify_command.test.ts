import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { registerVerify } from '../../src/cli/verify_command.js';
import { SIGNER as SIGNED_BY, signed } from '../client/signed_payload.js';
import { bodyOf } from '../stream/attribute_bodies.js';
import { runCommand } from './run_command.js';

const VECTORS = '../shared/vectors';
const skip = existsSync(VECTORS) ? false : 'the recorded data is not here';
const SIGNER = '0xc4a02e7d370402f4afc36032076b05e74ff81786';
const PAYLOAD =
  '690a1cce3cf72e889b699ef800fb80ba47c123ce7422517bfcd2ce0c701423a12938fb6fcf4424c21e39688cd41dd8919b149642b590328ada7532c88b5f0d6b010001187f4dcc627041f8000100000000000000056bc75e2d63100000';

const verify = (args: string[], stdin: string[] = []) =>
  runCommand(registerVerify, ['verify', ...args], { stdin });

test('a payload verifies as hex, as a frame, from a file and from standard input', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-verify-'));
  t.teardown(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'frame.json');
  const frame = `{"type":"signed_ecdsa","p":"0x${PAYLOAD}"}`;
  writeFileSync(file, `${frame}\n`);
  const results = [
    await verify([PAYLOAD, '--signer', SIGNER]),
    await verify([`0x${PAYLOAD}`, '--signer', SIGNER]),
    await verify([frame, '--signer', SIGNER]),
    await verify([file, '--signer', SIGNER]),
    await verify(['--signer', SIGNER], [`${frame}\n`]),
  ];
  for (const { stdout, stderr, exitCode } of results) {
    t.same([stderr, exitCode], ['', 0]);
    t.same(stdout.slice(0, 2), [
      'simplified payload, taxonomy 1, 1765215119172715000 ns, signed by 0xC4A02e7D370402F4afC36032076B05e74FF81786',
      '  asset 1: 100',
    ]);
    t.equal(stdout.at(-1), 'payload: verified');
  }
});

test('the attributes of a payload are shown in words', async (t) => {
  const { stdout, exitCode } = await verify([
    signed(Buffer.from(bodyOf(0x1f), 'hex')),
    '--signer',
    SIGNED_BY,
  ]);
  t.equal(exitCode, 0);
  t.equal(stdout[1], '  asset 1: 100  no market hours  age 0.4 s  3 publishers  0.9 bp');
});

test('the failed check is named', async (t) => {
  const wrong = await verify([PAYLOAD, '--signer', `0x${'1'.repeat(40)}`, '--taxonomy-id', '2']);
  t.equal(wrong.exitCode, 1);
  t.equal(wrong.stdout.at(-1), 'payload: FAILED: taxonomy, signer');
  t.ok(wrong.stdout.includes('failed   taxonomy: the taxonomy ID is 1, not 2'));
  const two = await verify(['-'], [`${PAYLOAD}\n${PAYLOAD.slice(0, -2)}\n`]);
  t.equal(two.exitCode, 1, 'one of two payloads is cut');
  t.equal(two.stdout.at(-1), 'payload: FAILED: length');
  t.match(await verify(['{}']), {
    exitCode: 1,
    stdout: ['failed   form: signature_type is not a string', /FAILED: form/],
  });
  t.match(await verify(['/no/such/file']), {
    exitCode: 1,
    stderr: /^verify: \/no\/such\/file is neither a file nor a payload/,
  });
  t.match(await verify([], [' \n']), { exitCode: 1, stderr: 'verify: the input is empty\n' });
  t.equal((await verify([PAYLOAD, '--taxonomy-id', '70000'])).exitCode, 1);
  t.equal((await verify(['{}', '--weight', 'x'])).exitCode, 1);
});

test('an answer that refuses a request, a folder and an unreadable definition are one sentence', async (t) => {
  const refused = await verify(['{"error":"the access token is not known"}']);
  t.match(refused, {
    stderr: 'verify: the input is an error that a service answered: "the access token is not known"\n',
    exitCode: 1,
  });
  const folder = t.testdir();
  t.match(await verify([folder]), {
    stderr: `verify: ${folder} cannot be read: it is a folder, not a file\n`,
    exitCode: 1,
  });
});

test('a text without a signed price is one sentence that says what it is', async (t) => {
  const cases = [
    [
      '<!doctype html>',
      'is a web page, and not the answer of a path such as /v1/prices/latest?assets=BTCUSD',
    ],
    [
      'HTTP/1.1 200 OK\r\n\r\n{"data":{}}',
      'begins with the headers of HTTP: save the answer without them (curl without -i)',
    ],
    [': hello\n', 'is a stream of events: a check takes the text after "data:" of one event'],
    [
      'event: signed_ecdsa\ndata: {}',
      'is a stream of events: a check takes the text after "data:" of one event',
    ],
    ['{"data":{"BTCUSD":{', 'is not whole: it begins as JSON, and a part of it is missing or changed'],
    ['{"data":{}}', 'has no price: none of the assets had one when the service answered'],
    ['{"data":[]}', 'has no price: none of the assets had one when the service answered'],
    ['\u007fELF\u0000', 'is neither JSON nor a payload in hex'],
  ] as const;
  for (const [text, sentence] of cases)
    t.match(
      await verify(['--signer', SIGNER], [text]),
      { stdout: [], stderr: `verify: the input ${sentence}\n`, exitCode: 1 },
      sentence,
    );
  t.match(await verify(['{"data":{"BTCUSD":{}}}']), { exitCode: 1, stderr: '' }, 'the checks judge a price');
});

test('without a signer nothing is verified', async (t) => {
  const { stdout, exitCode } = await verify([PAYLOAD]);
  const address = '0xC4A02e7D370402F4afC36032076B05e74FF81786';
  t.equal(exitCode, 3);
  t.match(stdout[0], new RegExp(`ns, recovered signer ${address}$`));
  t.equal(stdout.at(-1), `payload: recovered ${address}, NOT verified: --signer names no address`);
  t.notOk(stdout.some((line) => / verified$/.test(line) && !line.includes('NOT')));
  // With another value, the same signature recovers another address.
  const forged = await verify([PAYLOAD.replace('5e2d631', '5e2d632')]);
  t.equal(forged.exitCode, 3);
  t.match(forged.stdout.at(-1), /^payload: recovered 0x(?!C4A02e).*, NOT verified/);
  t.equal(
    (await verify([PAYLOAD, '--signer', `0x${'1'.repeat(40)}`, '--signer', SIGNER])).exitCode,
    0,
    'one of two',
  );
  const mixed = await verify(['-'], [`${PAYLOAD}\n${PAYLOAD.slice(0, -2)}\n`]);
  t.equal(mixed.exitCode, 1, 'a failed check comes before a missing signer');
  t.equal((await verify([PAYLOAD, '--signer', 'service'])).exitCode, 1);
});

test('recorded aggregates verify from their file', { skip }, async (t) => {
  const file = `${VECTORS}/recorded-evm.json`;
  const good = await verify([file, '--signer', SIGNER]);
  t.equal(good.exitCode, 0);
  t.equal(good.stdout.filter((line) => line === 'POSITIVE_ASSET_1: verified').length, 50);
  const [first] = JSON.parse(readFileSync(file, 'utf8')) as object[];
  const lossy = await verify([JSON.stringify(first), '--signer', SIGNER]);
  t.equal(lossy.exitCode, 1, 'a double lost the last digits');
  t.match(lossy.stdout.at(-1), /FAILED: .*service_signed_price msg_hash/);
  const unnamed = await verify([file]);
  t.equal(unnamed.exitCode, 3);
  t.match(unnamed.stdout.at(-1), /^POSITIVE_ASSET_1: recovered 0xC4A02e7D.*, NOT verified/);
  const other = await verify([file, '--algorithm-text', 'package.json']);
  t.match(other.stdout.at(-1), 'POSITIVE_ASSET_1: FAILED: checksum');
});
