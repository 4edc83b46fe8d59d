import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { type Test, test } from 'tap';
import WebSocket from 'ws';
import { eventually } from '../../scripts/load/wait.js';
import { makeCertificate } from '../certificate.js';
import { startTestService, type TestService, TOKEN } from '../service/harness.js';
import { THREAD_COUNTS } from '../tier.js';

const AUTHORIZATION = { Authorization: `Basic ${TOKEN}` };

function use(dir: string, name: string): void {
  for (const kind of ['key', 'pem']) copyFileSync(join(dir, `${name}.${kind}`), join(dir, `current.${kind}`));
}

/** Connects with TLS 1.2. @returns the subject of the certificate, and the cipher suite */
async function handshake({ port }: TestService, suite = 'ECDHE-ECDSA-AES128-GCM-SHA256'): Promise<string> {
  const options = {
    maxVersion: 'TLSv1.2',
    ciphers: `${suite}:@SECLEVEL=0`,
    rejectUnauthorized: false,
  } as const;
  const socket = connect({ port, host: '127.0.0.1', ...options });
  await once(socket, 'secureConnect');
  const answer = `${socket.getPeerCertificate().subject.CN} ${socket.getCipher().name}`;
  socket.destroy();
  return answer;
}

/** Makes a request. @returns the status, the header Strict-Transport-Security and the body */
async function request({ port }: TestService, options: https.RequestOptions): Promise<string[]> {
  const sent = https.request({
    host: '127.0.0.1',
    port,
    rejectUnauthorized: false,
    agent: false,
    ...options,
  });
  const [response] = await once(sent.end(), 'response');
  return [String(response.statusCode), response.headers['strict-transport-security'], await text(response)];
}

/** Requests that different parts of the service answer, and the expected statuses. */
const REQUESTS: readonly (readonly [status: string, request: https.RequestOptions])[] = [
  ['200', { path: '/openapi.json' }],
  ['426', { path: '/ws' }],
  ['413', { path: '/v1/publisher/metadata', method: 'POST', headers: { 'Content-Length': 1e8 } }],
];

async function openStream({ port }: TestService): Promise<WebSocket> {
  const options = { headers: AUTHORIZATION, rejectUnauthorized: false };
  const ws = new WebSocket(`wss://127.0.0.1:${port}/ws`, options);
  await once(ws, 'open');
  return ws;
}

async function subscribe(ws: WebSocket, id: string): Promise<string> {
  ws.send(JSON.stringify({ type: 'subscribe', assets: [1], id }));
  const [data] = (await once(ws, 'message')) as [Buffer];
  return data.toString();
}

for (const threads of THREAD_COUNTS) {
  test(`TLS serves REST and sockets, and a reload changes the certificate, ${threads} threads`, async (t: Test) => {
    const dir = t.testdir();
    const missing = makeCertificate(dir, 'first') ?? makeCertificate(dir, 'second');
    if (missing !== undefined) return t.comment(`skipped: ${missing}`);
    use(dir, 'first');
    const tls = { cert_file: join(dir, 'current.pem'), key_file: join(dir, 'current.key') };
    const sections = { listen: { port: 0, threads, tls } };
    const service = await startTestService(t, sections);
    const trusted = (name: string) => {
      const ca = readFileSync(join(dir, `${name}.pem`));
      const options = { path: '/v1/prices/assets', headers: AUTHORIZATION, rejectUnauthorized: true, ca };
      return request(service, options);
    };
    t.match(await trusted('first'), ['200', 'max-age=31536000', '{"data":["BTCUSD","DYDXUSD"]}']);
    await t.rejects(trusted('second'), /self-signed|verify/);
    await t.rejects(fetch(`${service.url}/v1/prices/assets`), 'nothing is served without TLS');
    t.match(await handshake(service), /^first/);
    for (const suite of ['ECDHE-ECDSA-AES128-SHA', 'AES128-SHA'])
      await t.rejects(handshake(service, suite), /handshake failure|alert|ECONNRESET/, suite);
    for (const [status, options] of REQUESTS)
      t.match(await request(service, options), [status, 'max-age=31536000']);
    const old = await openStream(service);
    t.match(await subscribe(old, 'old'), '"id":"old"');
    // The admin listener has no TLS.
    await eventually(async () => (await fetch(`${service.adminUrl}/readyz`)).status === 200);

    writeFileSync(tls.cert_file, 'no certificate');
    service.reconfigure(sections);
    t.match(await handshake(service), /^first/, 'one that cannot be used changes nothing');

    use(dir, 'second');
    service.reconfigure(sections);
    // A closing listener may still accept a connection, and then reset it.
    await eventually(async () => (await handshake(service).catch(() => '')).startsWith('second'));
    t.match(await subscribe(old, 'still'), '"id":"still"', 'open connections stay');
    const young = await openStream(service);
    t.match(await subscribe(young, 'new'), '"id":"new"');

    const closed = [once(old, 'close'), once(young, 'close')];
    await service.stop();
    for (const [code] of await Promise.all(closed)) t.equal(code, 1001);
  });
}
