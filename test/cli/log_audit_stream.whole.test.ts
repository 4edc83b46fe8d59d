import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { WebSocketServer } from 'ws';
import { registerLog } from '../../src/cli/log_command.js';
import { parseEvidence } from '../../src/client/verify/evidence_file.js';
import { AuditedLog, signedPrice, startOf } from '../publiclog/witness/audited_log.js';
import { emptyFolder } from '../publiclog/witness/small_witness.js';
import { policyText } from '../tlog/witnessed_log.js';
import { runCommand } from './run_command.js';

const PROMISED_S = 1;
const SEND_MS = 100;

/** Serves the log of a service, and streams validly signed prices that the log never has. Returns its address. */
async function serveLies(t: Test, log: AuditedLog): Promise<string> {
  const http = createServer(async (request, response) => {
    if (request.url === '/v1/signers') response.end(`{"data":[],"log":{"max_delay":${PROMISED_S}}}`);
    else if (request.url === '/v1/prices/assets') response.end('{"data":["BTCUSD"]}');
    else {
      const bytes = await log.read(request.url!.replace('/tlog/', ''), Number.POSITIVE_INFINITY);
      response.writeHead(bytes === undefined ? 404 : 200).end(bytes);
    }
  });
  const sockets = new WebSocketServer({ server: http });
  sockets.on('connection', (socket, { url }) => {
    if (url !== '/evm/subscribe') return;
    let sent = 0;
    const timer = setInterval(() => {
      const price = signedPrice(startOf(log.entries.length + sent) + 5n, 1n);
      sent += 1;
      socket.send(`{"type":"oracle_prices","data":{"BTCUSD":${price}}}`);
    }, SEND_MS);
    socket.on('close', () => clearInterval(timer));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  t.teardown(() => {
    for (const socket of sockets.clients) socket.terminate();
    http.close().closeAllConnections();
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}

test('log audit ends with a stream of lies beside an old checkpoint', async (t) => {
  const dir = emptyFolder(t);
  const policy = join(dir, 'tickseal.policy');
  writeFileSync(policy, policyText('group G 2 W1 W2 W3\nquorum G'));
  const log = new AuditedLog().grow(30);
  const url = await serveLies(t, log);
  const startMs = performance.now();
  const { exitCode, stdout, stderr } = await runCommand(registerLog, [
    ...['log', 'audit', url, '--policy', policy, '--folder', join(dir, 'audit')],
    ...['--stream', '--token', 'x', '--every', '0.1'],
  ]);
  t.comment(`after ${Math.round(performance.now() - startMs)} ms`);
  t.equal(exitCode, 1);
  t.same(stderr, '');
  const fault = stdout.at(-1)!;
  t.match(
    fault,
    /^FAULT: overdue: no checkpoint covers a price that was received \d+ s ago; the service promises 1 s/,
  );
  t.equal(stdout.filter((line) => line.startsWith('FINDING: no newer checkpoint for')).length, 1);
  const [, file = ''] = /the evidence is in (.*)$/.exec(fault)!;
  t.match(parseEvidence(readFileSync(file, 'utf8')), { kind: 'overdue', checkpoint: log.note() });
});
