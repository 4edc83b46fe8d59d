import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { registerLog } from '../../src/cli/log_command.js';
import { formatEvidence } from '../../src/client/verify/evidence_file.js';
import { AuditedLog, SERVICE_ADDRESS, signedPrice, startOf } from '../publiclog/witness/audited_log.js';
import { emptyFolder } from '../publiclog/witness/small_witness.js';
import { policyText, recordAt } from '../tlog/witnessed_log.js';
import { runCommand } from './run_command.js';

/** Serves a log as a service does. Returns its address. */
async function serve(t: Test, log: AuditedLog): Promise<string> {
  const server = createServer(async (request, response) => {
    if (request.url === '/v1/signers') {
      response.end('{"data":[],"log":{"max_delay":60}}');
      return;
    }
    const path = request.url!.replace('/tlog/', '');
    const bytes = await log.read(path, Number.POSITIVE_INFINITY);
    response.writeHead(bytes === undefined ? 404 : 200).end(bytes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('log audit goes on from its folder, and log verify proves what it found', async (t) => {
  const dir = emptyFolder(t);
  const policy = join(dir, 'tickseal.policy');
  writeFileSync(policy, policyText('group G 2 W1 W2 W3\nquorum G'));
  const log = new AuditedLog().grow(30);
  const url = await serve(t, log);
  const plan = ['log', 'audit', url, '--policy', policy, '--folder', join(dir, 'audit'), '--once'];
  const audit = (...args: string[]) => runCommand(registerLog, [...plan, ...args]);
  const first = await audit();
  t.same(
    [first.exitCode, first.stdout, first.stderr],
    [0, ['30 batches checked, 0 received prices found'], ''],
  );
  log.grow(12);
  t.same((await audit()).stdout, ['42 batches checked, 0 received prices found']);

  // The log replaces an already published batch.
  log.entries.splice(20);
  log.records.splice(20);
  log.append([recordAt(startOf(20), 1)]);
  log.grow(30);
  const found = await audit();
  t.equal(found.exitCode, 1);
  const [, file = ''] = /^FAULT: fork; the evidence is in (.*)$/.exec(found.stdout.at(-1)!) ?? [];
  t.ok(existsSync(file));
  const verify = (evidence: string, ...args: string[]) =>
    runCommand(registerLog, ['log', 'verify', evidence, '--policy', policy, ...args]);
  const proof = await verify(file);
  t.same(proof.stdout, [
    'PROVEN: prices.example.com/tlog signed two pasts: its tree of 51 entries does not begin with its tree of 42',
  ]);
  t.equal(proof.exitCode, 0);

  const renamed = join(dir, 'renamed.policy');
  writeFileSync(renamed, policyText('quorum none').replace(/^log .*$/m, ''));
  const changed = await audit('--policy', renamed);
  t.equal(changed.exitCode, 2);
  t.match(changed.stdout, [
    /^ORIGIN CHANGED: the service has the log prices.example.com\/tlog, and the policy trusts no log/,
  ]);

  const two = join(dir, 'two.json');
  const prices = [signedPrice(1_000n, 1n), signedPrice(1_000n, 2n)] as const;
  writeFileSync(two, formatEvidence({ kind: 'two values', prices }));
  t.equal((await verify(two, '--signer', SERVICE_ADDRESS)).exitCode, 0);
  const unnamed = await verify(two);
  t.equal(unnamed.exitCode, 3, 'anybody can sign two values with a key of their own');
  t.match(unnamed.stdout[0], /signed two values of BTCUSD for 1000 ns: recovered 0x\w+, NOT verified/);
});

test('log audit says what is wrong with its options', async (t) => {
  const dir = emptyFolder(t);
  const policy = join(dir, 'none.policy');
  writeFileSync(policy, 'quorum none\n');
  const audit = (...args: string[]) =>
    runCommand(registerLog, ['log', 'audit', ...args, '--folder', join(dir, 'a')]);
  t.match(
    (await audit('http://127.0.0.1:1', '--policy', join(dir, 'missing'))).stderr,
    /missing cannot be read: there is no such file/,
  );
  const plain = await runCommand(registerLog, ['log', 'new-origin', dir, 'prices.example.com/tlog2']);
  t.match(plain.stderr, /has no file "format": it is not a data folder/);
  t.same(readdirSync(dir), ['none.policy'], 'nothing was written');
  const down = await audit('http://127.0.0.1:1', '--policy', policy, '--once', '--every', '0.1');
  t.match(down, { exitCode: 2, stderr: /checkpoint cannot be read/ });
});
