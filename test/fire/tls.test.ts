import { once } from 'node:events';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { type Test, test } from 'tap';
import WebSocket from 'ws';
import { eventually } from '../../scripts/load/wait.js';
import { publishMessage } from '../../src/client/index.js';
import type { SignatureType } from '../../src/model/asset.js';
import { StartingPort } from '../../src/server/uws/early_listener.js';
import { loadWebSockets } from '../../src/server/uws/native.js';
import { makeCertificate } from '../certificate.js';
import { units } from '../service/feed.js';
import { publisherSigner, startTestService, type TestService, TOKEN } from '../service/harness.js';
import { THREAD_COUNTS } from '../tier.js';

function use(dir: string, name: string): void {
  for (const kind of ['key', 'pem']) copyFileSync(join(dir, `${name}.${kind}`), join(dir, `current.${kind}`));
}

/** Returns the subject of the certificate on a new connection. */
async function servedName({ port }: TestService): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const name = socket.getPeerCertificate().subject.CN;
  socket.destroy();
  return String(name);
}

/** Returns the cipher suite of a connection that offers only this suite. */
function suiteOf({ port }: TestService, suite: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const offer = {
      maxVersion: 'TLSv1.2',
      ciphers: `${suite}:@SECLEVEL=0`,
      rejectUnauthorized: false,
    } as const;
    const socket = connect({ port, host: '127.0.0.1', ...offer });
    socket.once('error', reject).once('secureConnect', () => {
      resolve(socket.getCipher().name);
      socket.destroy();
    });
  });
}

/** Returns the status of a response and its header Strict-Transport-Security. */
function transportSecurityOf(
  { port }: Pick<TestService, 'port'>,
  request: https.RequestOptions = {},
): Promise<string> {
  const options = { host: '127.0.0.1', port, path: '/', rejectUnauthorized: false, agent: false, ...request };
  return new Promise((resolve, reject) => {
    https
      .request(options, (response) => {
        resolve(`${response.statusCode} ${response.headers['strict-transport-security']}`);
        response.resume();
      })
      .once('error', reject)
      .end();
  });
}

const UPGRADE = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Key': `${'A'.repeat(22)}==`,
  'Sec-WebSocket-Version': '13',
};
/** Requests that different parts of the service answer, and the expected statuses. */
const REQUESTS: readonly (readonly [status: number, request: https.RequestOptions])[] = [
  [200, { path: '/openapi.json' }],
  [404, { path: '/x' }],
  [426, { path: '/ws' }],
  [401, { path: '/ws', headers: UPGRADE }],
  [413, { path: '/v1/publisher/metadata', method: 'POST', headers: { 'Content-Length': 1e8 } }],
];

/** Makes a GET request that trusts only this certificate. */
function getTrusting(dir: string, name: string, { port }: TestService, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const ca = readFileSync(join(dir, `${name}.pem`));
    const headers = { Authorization: `Basic ${TOKEN}` };
    https
      .get({ host: '127.0.0.1', port, path, ca, headers, agent: false }, (response) => {
        text(response).then((body) => resolve(`${response.statusCode} ${body}`), reject);
      })
      .once('error', reject);
  });
}

/** Publishes over wss. @returns the service's answer */
async function publishOver({ port }: TestService, type: SignatureType, symbol: string): Promise<string> {
  const headers = { Authorization: `Basic ${TOKEN}` };
  const url = `wss://127.0.0.1:${port}/${type}/publish?ack=true`;
  const ws = new WebSocket(url, { headers, rejectUnauthorized: false });
  await once(ws, 'open');
  const timestampNs = BigInt(Date.now()) * 1_000_000n;
  ws.send(publishMessage('tls', [publisherSigner(1, type).sign({ symbol, price: units(1), timestampNs })]));
  const [data] = (await once(ws, 'message')) as [Buffer];
  ws.terminate();
  return data.toString();
}

function openStream({ port }: TestService): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Basic ${TOKEN}` };
    const ws = new WebSocket(`wss://127.0.0.1:${port}/ws`, { headers, rejectUnauthorized: false });
    ws.once('open', () => resolve(ws)).once('error', reject);
  });
}

async function subscribe(ws: WebSocket, id: string): Promise<string> {
  ws.send(JSON.stringify({ type: 'subscribe', assets: [1], id }));
  const [data] = (await once(ws, 'message')) as [Buffer];
  return data.toString();
}

test('a service that starts also makes browsers use TLS', async (t) => {
  const dir = t.testdir();
  const missing = makeCertificate(dir, 'first');
  if (missing !== undefined) {
    t.pass(`skipped: ${missing}`);
    return;
  }
  const tls = { certFile: join(dir, 'first.pem'), keyFile: join(dir, 'first.key') };
  const starting = await StartingPort.claim(
    loadWebSockets(undefined),
    { host: '127.0.0.1', port: 0, tls },
    false,
  );
  t.teardown(() => starting.close());
  t.equal(await transportSecurityOf(starting.at), '503 max-age=31536000');
});

for (const threads of THREAD_COUNTS) {
  test(`TLS serves REST and sockets, and a reload changes the certificate, ${threads} threads`, async (t: Test) => {
    const dir = t.testdir();
    const missing = makeCertificate(dir, 'first') ?? makeCertificate(dir, 'second');
    if (missing !== undefined) {
      t.pass(`skipped: ${missing}`);
      return;
    }
    use(dir, 'first');
    const tls = { cert_file: join(dir, 'current.pem'), key_file: join(dir, 'current.key') };
    const sections = { listen: { port: 0, threads, tls } };
    const service = await startTestService(t, sections);
    t.equal(await servedName(service), 'first');
    const old = await openStream(service);
    t.match(await subscribe(old, 'old'), '"id":"old"');
    t.equal(
      await getTrusting(dir, 'first', service, '/v1/prices/assets'),
      '200 {"data":["BTCUSD","DYDXUSD"]}',
    );
    t.equal(await suiteOf(service, 'ECDHE-ECDSA-AES128-GCM-SHA256'), 'ECDHE-ECDSA-AES128-GCM-SHA256');
    for (const suite of ['ECDHE-ECDSA-AES128-SHA', 'ECDHE-ECDSA-AES256-SHA', 'AES128-SHA'])
      await t.rejects(suiteOf(service, suite), /handshake failure|alert|ECONNRESET/, suite);
    for (const [status, request] of REQUESTS)
      t.equal(await transportSecurityOf(service, request), `${status} max-age=31536000`);
    await t.rejects(getTrusting(dir, 'second', service, '/v1/prices/assets'), /self-signed|verify/);
    await t.rejects(fetch(`${service.url}/v1/prices/assets`), 'nothing is served without TLS');
    t.match(await publishOver(service, 'evm', 'BTCUSD'), '"accepted":["BTCUSD"]');
    t.match(await publishOver(service, 'stark', 'DYDXUSD'), '"accepted":["DYDXUSD"]');
    // The admin listener has no TLS.
    await eventually(async () => (await fetch(`${service.adminUrl}/readyz`)).status === 200);

    service.reconfigure(sections);
    t.equal(await servedName(service), 'first', 'the same files: nothing happens');

    writeFileSync(tls.cert_file, 'no certificate');
    service.reconfigure(sections);
    t.equal(await servedName(service), 'first', 'one that cannot be used changes nothing');

    use(dir, 'second');
    service.reconfigure(sections);
    // A closing listener may still accept a connection, and then reset it.
    const nameNow = () => servedName(service).catch(() => undefined);
    await eventually(async () => (await nameNow()) === 'second');
    t.match(await subscribe(old, 'still'), '"id":"still"', 'open connections stay');
    const young = await openStream(service);
    t.match(await subscribe(young, 'new'), '"id":"new"');
    // With several threads, an old listener may still accept a connection.
    const trusting = () => getTrusting(dir, 'second', service, '/v1/prices/assets').catch(() => undefined);
    t.match(await eventually(trusting), '200 ');
    t.match(await publishOver(service, 'evm', 'BTCUSD'), '"accepted":["BTCUSD"]');

    const closed = [once(old, 'close'), once(young, 'close')];
    await service.stop();
    for (const [code] of await Promise.all(closed)) t.equal(code, 1001);
  });
}
