import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { type Test, test } from 'tap';
import WebSocket from 'ws';
import { startTestService, type TestService, TOKEN } from '../service/harness.js';
import { until } from '../service/publishing.js';

/** Makes a certificate and its key. @returns why not, where there is no openssl. */
function makeCertificate(dir: string, name: string): string | undefined {
  const files = ['-keyout', join(dir, `${name}.key`), '-out', join(dir, `${name}.pem`)];
  try {
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-days',
        '2',
        '-subj',
        `/CN=${name}`,
        ...files,
      ],
      { stdio: 'ignore' },
    );
    return undefined;
  } catch (error) {
    return `openssl: ${(error as Error).message}`;
  }
}

function use(dir: string, name: string): void {
  for (const kind of ['key', 'pem']) copyFileSync(join(dir, `${name}.${kind}`), join(dir, `current.${kind}`));
}

/** The name in the certificate that a new connection gets. */
async function servedName({ port }: TestService): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const name = socket.getPeerCertificate().subject.CN;
  socket.destroy();
  return String(name);
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

for (const threads of [1, 2]) {
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
    const service = await startTestService(sections);
    t.teardown(() => service.stop());
    t.equal(await servedName(service), 'first');
    const old = await openStream(service);
    t.match(await subscribe(old, 'old'), '"id":"old"');

    service.reconfigure(sections);
    t.equal(await servedName(service), 'first', 'the same files: nothing happens');

    writeFileSync(tls.cert_file, 'no certificate');
    service.reconfigure(sections);
    t.equal(await servedName(service), 'first', 'one that cannot be used changes nothing');

    use(dir, 'second');
    service.reconfigure(sections);
    await until(async () => ((await servedName(service)) === 'second' ? true : undefined));
    t.match(await subscribe(old, 'still'), '"id":"still"', 'open connections stay');
    const young = await openStream(service);
    t.match(await subscribe(young, 'new'), '"id":"new"');

    const closed = [once(old, 'close'), once(young, 'close')];
    await service.stop();
    for (const [code] of await Promise.all(closed)) t.equal(code, 1001);
  });
}
