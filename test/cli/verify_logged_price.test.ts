import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { registerVerify } from '../../src/cli/verify_command.js';
import { readAggregate } from '../../src/client/verify/aggregate_form.js';
import { parseExactJson, writeExactJson } from '../../src/client/verify/exact_json.js';
import { recordOfPrice } from '../../src/client/verify/logged_price.js';
import { batchesOf, policyText, proofOf, recordAt, SECOND_NS } from '../tlog/witnessed_log.js';
import { runCommand } from './run_command.js';

const RECORDED = '../shared/vectors/recorded-evm.json';
const skip = existsSync(RECORDED) ? false : 'the recorded data is not here';
const SIGNER = '0xc4a02e7d370402f4afc36032076b05e74ff81786';

/** Writes an aggregate, its proof in a log and a policy. Returns the paths and a function that runs `verify`. */
function filesOf(t: Test) {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-logged-'));
  t.teardown(() => rmSync(dir, { recursive: true }));
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
    recorded,
    price: write('price.json', writeExactJson(recorded[0]!)),
    proof: write('price.tlog-proof', proofOf(batches, 5, place)),
    other: write('other.tlog-proof', proofOf(batches, 5, place === 0 ? 1 : 0)),
    policy: write('tickseal.policy', policyText('group G 2 W1 W2 W3\nquorum G')),
    none: write('none.policy', 'quorum none\n'),
  };
}

const verify = (...args: string[]) => runCommand(registerVerify, ['verify', ...args]);

test('verify checks that a public log has the price', { skip }, async (t) => {
  const { price, proof, policy, other, none, write, recorded } = filesOf(t);
  const good = await verify(price, '--signer', SIGNER, '--proof', proof, '--policy', policy);
  t.equal(good.exitCode, 0, good.stderr);
  t.match(
    good.stdout.at(-1),
    /^POSITIVE_ASSET_1: logged, record \d of 3 in batch 5 of prices\.example\.com\/tlog, of which W1 at 100, W2 at 100, W3 at 100 has seen 20 batches$/,
  );
  t.ok(good.stdout.includes('POSITIVE_ASSET_1: verified'));
  const wrong = await verify(price, '--signer', SIGNER, '--proof', other, '--policy', policy);
  t.equal(wrong.exitCode, 1);
  t.match(wrong.stdout.at(-1), /^POSITIVE_ASSET_1: NOT LOGGED: batch 5 does not have this price at \d$/);
  t.equal((await verify(price, '--proof', proof, '--policy', policy)).exitCode, 3, 'no signer is named');
  // The log has the hash that the service signed, and not the price beside it.
  const forged = write('forged.json', readFileSync(price, 'utf8').replace('"price":"', '"price":"1'));
  const refused = await verify(forged, '--signer', SIGNER, '--proof', proof, '--policy', policy);
  t.equal(refused.exitCode, 1);
  t.match(refused.stdout.at(-1), /^POSITIVE_ASSET_1: FAILED: /, 'a forged copy is not called logged');
  const unknown = await verify(price, '--signer', SIGNER, '--proof', proof, '--policy', none);
  t.match(
    unknown.stdout.at(-1),
    /NOT LOGGED: the service has the log prices\S+, and the policy trusts no log/,
  );
  const second = write('second.json', writeExactJson(recorded[1]!));
  t.match(
    (await verify(second, '--signer', SIGNER, '--proof', proof, '--policy', policy)).stdout.at(-1),
    'NOT LOGGED',
  );
});

test('verify says what is wrong with the files of a proof', { skip }, async (t) => {
  const { price, proof, policy, write } = filesOf(t);
  for (const [args, message] of [
    [['--proof', proof], '--policy and either --proof or --log need each other'],
    [['--policy', policy], '--policy and either --proof or --log need each other'],
    [['--log', 'http://127.0.0.1:1'], '--policy and either --proof or --log need each other'],
    [['--proof', proof, '--log', 'http://127.0.0.1:1', '--policy', policy], 'either --proof or --log'],
    [['--log', '127.0.0.1:1', '--policy', policy], 'expected an address such as https'],
    [['--log', 'http://127.0.0.1:1', '--policy', policy], 'cannot be read'],
    [['--proof', '/no/such', '--policy', policy], 'ENOENT'],
    [['--proof', proof, '--policy', price], 'line 1 of the policy'],
  ] as const) {
    const { exitCode, stderr } = await verify(price, '--signer', SIGNER, ...args);
    t.equal(exitCode, 1);
    t.match(stderr, message);
  }
  const several = await verify(RECORDED, '--signer', SIGNER, '--proof', proof, '--policy', policy);
  t.match(several, { exitCode: 1, stderr: 'a proof is for one aggregate, and the input has 50' });
  const cut = write('cut.tlog-proof', readFileSync(proof, 'utf8').slice(0, 300));
  const { exitCode, stdout } = await verify(price, '--signer', SIGNER, '--proof', cut, '--policy', policy);
  t.equal(exitCode, 1);
  t.equal(stdout.at(-1), 'POSITIVE_ASSET_1: NOT LOGGED: the proof has no checkpoint');
});

test('verify asks a service for the proof', { skip }, async (t) => {
  const { price, proof, policy, other } = filesOf(t);
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
  const ask = () => verify(price, '--signer', SIGNER, '--log', url, '--policy', policy);
  const good = await ask();
  t.equal(good.exitCode, 0, good.stderr);
  t.match(good.stdout.at(-1), /^POSITIVE_ASSET_1: logged, record/);
  t.match(requests, [/^\/v1\/prices\/proof\?asset=POSITIVE_ASSET_1&timestamp=\d+&signature_type=evm$/]);
  answer = readFileSync(other, 'utf8');
  t.match((await ask()).stdout.at(-1), /NOT LOGGED: batch 5 does not have this price/);
  answer = undefined;
  const missing = await ask();
  t.equal(missing.exitCode, 1);
  t.match(missing.stdout.at(-1), /NOT LOGGED: the service has no proof of it/);
});
