import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { registerVerify } from '../../src/cli/verify_command.js';
import { readAggregate } from '../../src/client/verify/aggregate_form.js';
import { parseExactJson, writeExactJson } from '../../src/client/verify/exact_json.js';
import { recordOfPrice } from '../../src/client/verify/logged_price.js';
import { batchesOf, policyText, proofOf, recordAt, SECOND_NS } from '../tlog/witnessed_log.js';
import { runCommand } from './run_command.js';

const SIGNER = '0xc4a02e7d370402f4afc36032076b05e74ff81786';
const PAYLOAD =
  '690a1cce3cf72e889b699ef800fb80ba47c123ce7422517bfcd2ce0c701423a12938fb6fcf4424c21e39688cd41dd8919b149642b590328ada7532c88b5f0d6b010001187f4dcc627041f8000100000000000000056bc75e2d63100000';

const verify = (args: string[], stdin: string[] = []) =>
  runCommand(registerVerify, ['verify', ...args], { stdin });

test('a payload verifies as hex, as a frame, from a file and from standard input', async (t) => {
  const dir = t.testdir();
  const file = join(dir, 'frame.json');
  const frame = `{"type":"signed_ecdsa","p":"0x${PAYLOAD}"}`;
  writeFileSync(file, `${frame}\n`);
  const results = [
    await verify([PAYLOAD, '--signer', SIGNER]),
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

test('the failed check is named', async (t) => {
  const wrong = await verify([PAYLOAD, '--signer', `0x${'1'.repeat(40)}`, '--taxonomy-id', '2']);
  t.equal(wrong.exitCode, 1);
  t.equal(wrong.stdout.at(-1), 'payload: FAILED: taxonomy, signer');
  t.ok(wrong.stdout.includes('failed   taxonomy: the taxonomy ID is 1, not 2'));
  t.match(await verify(['{}']), { exitCode: 1, stdout: [/^failed +form: /, /FAILED: form/] });
  const missing = await verify(['/no/such/file']);
  t.match(missing, { exitCode: 1, stderr: /^verify: \/no\/such\/file is neither a file nor a payload/ });
  t.match(await verify([], [' \n']), { exitCode: 1, stderr: 'verify: the input is empty\n' });
});

test('a text without a signed price is one sentence that says what it is', async (t) => {
  const cases = [
    ['<!doctype html>', /is a web page, and not the answer of a path such as/],
    ['HTTP/1.1 200 OK\r\n\r\n{"data":{}}', /begins with the headers of HTTP: save the answer without them/],
    ['event: signed_ecdsa\ndata: {}', /is a stream of events: a check takes the text after "data:"/],
    ['{"data":{"BTCUSD":{', /is not whole: it begins as JSON, .* save the answer again/],
    ['{"data":{}}', /has no price: none of the assets had one when the service answered/],
    ['\u007fELF\u0000', /is neither JSON nor a payload in hex/],
  ] as const;
  for (const [text, stderr] of cases)
    t.match(await verify(['--signer', SIGNER], [text]), { stdout: [], stderr, exitCode: 1 });
  t.match(await verify(['{"data":{"BTCUSD":{}}}']), { exitCode: 1, stderr: '' }, 'the checks judge a price');
});

test('without a signer nothing is verified', async (t) => {
  const { stdout, exitCode } = await verify([PAYLOAD]);
  const address = '0xC4A02e7D370402F4afC36032076B05e74FF81786';
  t.equal(exitCode, 3);
  t.match(stdout[0], new RegExp(`ns, recovered signer ${address}$`));
  t.equal(stdout.at(-1), `payload: recovered ${address}, NOT verified: --signer names no address`);
  const mixed = await verify(['-'], [`${PAYLOAD}\n${PAYLOAD.slice(0, -2)}\n`]);
  t.equal(mixed.exitCode, 1, 'a failed check comes before a missing signer');
});

const RECORDED = '../shared/vectors/recorded-evm.json';
const skip = existsSync(RECORDED) ? false : 'the recorded data is not here';

/** Writes an aggregate, its proof in a log and a policy. Returns the paths and a function that runs `prove`. */
function filesOf(t: Test) {
  const dir = t.testdir();
  const write = (name: string, text: string) => {
    const file = join(dir, name);
    writeFileSync(file, text);
    return file;
  };
  const recorded = parseExactJson(readFileSync(RECORDED, 'utf8')) as object[];
  const { assetId, signatureType, service } = readAggregate(recorded[0]);
  const price = {
    signatureType,
    signer: service.key,
    symbol: assetId,
    timeNs: service.timestampNs,
    msgHash: service.msgHash,
  };
  const record = recordOfPrice(price);
  const second = service.timestampNs - (service.timestampNs % SECOND_NS);
  const batches = batchesOf(
    20,
    (fromNs) => [...(fromNs === second ? [record] : []), recordAt(fromNs, 2), recordAt(fromNs, 3)],
    second - 5n * SECOND_NS,
  );
  const place = batches.records[5]!.findIndex((one) => Buffer.compare(one, record) === 0);
  return {
    write,
    price: write('price.json', writeExactJson(recorded[0]!)),
    proof: write('price.tlog-proof', proofOf(batches, 5, place)),
    other: write('other.tlog-proof', proofOf(batches, 5, place === 0 ? 1 : 0)),
    policy: write('tickseal.policy', policyText('group G 2 W1 W2 W3\nquorum G')),
    none: write('none.policy', 'quorum none\n'),
  };
}

const prove = (...args: string[]) => verify([...args, '--signer', SIGNER]);

test('verify checks that a public log has the price', { skip }, async (t) => {
  const { price, proof, policy, other, none, write } = filesOf(t);
  const good = await prove(price, '--proof', proof, '--policy', policy);
  t.equal(good.exitCode, 0, good.stderr);
  t.match(
    good.stdout.at(-1),
    /^POSITIVE_ASSET_1: logged, record \d of 3 in batch 5 of prices\.example\.com\/tlog, of which W1 at 100, W2 at 100, W3 at 100 has seen 20 batches$/,
  );
  t.ok(good.stdout.includes('POSITIVE_ASSET_1: verified'));
  const wrong = await prove(price, '--proof', other, '--policy', policy);
  t.equal(wrong.exitCode, 1);
  t.match(wrong.stdout.at(-1), /^POSITIVE_ASSET_1: NOT LOGGED: batch 5 does not have this price at \d$/);
  // The log has the hash that the service signed, and not the price beside it.
  const forged = write('forged.json', readFileSync(price, 'utf8').replace('"price":"', '"price":"1'));
  const refused = await prove(forged, '--proof', proof, '--policy', policy);
  t.equal(refused.exitCode, 1);
  t.match(refused.stdout.at(-1), /^POSITIVE_ASSET_1: FAILED: /, 'a forged copy is not called logged');
  const unknown = await prove(price, '--proof', proof, '--policy', none);
  t.match(unknown.stdout.at(-1), /NOT LOGGED: .*, and the policy trusts no log/);
});

test('verify asks a service for the proof', { skip }, async (t) => {
  const { price, proof, policy } = filesOf(t);
  const requests: string[] = [];
  let answer: string | undefined = readFileSync(proof, 'utf8');
  const server = createServer((request, response) => {
    requests.push(request.url!);
    response.writeHead(answer === undefined ? 404 : 200).end(answer);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const ask = () => prove(price, '--log', url, '--policy', policy);
  const good = await ask();
  t.equal(good.exitCode, 0, good.stderr);
  t.match(good.stdout.at(-1), /^POSITIVE_ASSET_1: logged, record/);
  t.match(requests, [/^\/v1\/prices\/proof\?asset=POSITIVE_ASSET_1&timestamp=\d+&signature_type=evm$/]);
  answer = undefined;
  const missing = await ask();
  t.equal(missing.exitCode, 1);
  t.match(missing.stdout.at(-1), /NOT LOGGED: the service has no proof of it/);
});
