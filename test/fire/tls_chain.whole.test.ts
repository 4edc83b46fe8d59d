import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { type Test, test } from 'tap';
import WebSocket from 'ws';
import { eventually, pause } from '../../scripts/load/wait.js';
import { publishMessage } from '../../src/client/index.js';
import { TestAuthority } from '../certificate.js';
import { ServeProcess, writeConfig } from '../service/child.js';
import { units } from '../service/feed.js';
import { publisherSigner, TOKEN } from '../service/harness.js';

const HEADERS = { Authorization: `Basic ${TOKEN}` };

/** The largest number of resets, one for each thread. */
const RESETS_MAX = 2;

/** A client that trusts only a single authority. */
class TrustingClient {
  readonly #ca: string;
  readonly #port: number;

  constructor(ca: string, port: number) {
    this.#ca = ca;
    this.#port = port;
  }

  /** Returns the subject of the certificate of a new connection, after the client verified the certificate. */
  async servedName(): Promise<string> {
    const socket = connect({ port: this.#port, host: '127.0.0.1', ca: this.#ca });
    await once(socket, 'secureConnect');
    const name = socket.getPeerCertificate().subject.CN;
    socket.destroy();
    return String(name);
  }

  get(path: string, agent: https.Agent | false): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.#port, path, ca: this.#ca, headers: HEADERS, agent };
      https
        .get(options, (response) => {
          text(response).then((body) => resolve(`${response.statusCode} ${body}`), reject);
        })
        .once('error', reject);
    });
  }

  async open(path: string): Promise<WebSocket> {
    const options = { headers: HEADERS, ca: this.#ca };
    const ws = new WebSocket(`wss://127.0.0.1:${this.#port}${path}`, options);
    await once(ws, 'open');
    return ws;
  }
}

test('a chain of an authority of our own is renewed by SIGHUP, and no connection is lost', async (t: Test) => {
  const dir = t.testdir({ ca: {} });
  const authority = new TestAuthority(join(dir, 'ca'));
  if (authority.missing !== undefined) {
    t.pass(`skipped: ${authority.missing}`);
    return;
  }
  const tls = { cert_file: join(dir, 'chain.pem'), key_file: join(dir, 'service.key') };
  const put = ({ chain, key }: { readonly chain: string; readonly key: string }) => {
    writeFileSync(tls.cert_file, chain);
    writeFileSync(tls.key_file, key, { mode: 0o600 });
  };
  const first = authority.issue('first', 3);
  put(first);
  const serve = new ServeProcess(['--config', writeConfig(dir, { listen: { port: 0, threads: 2, tls } })]);
  t.teardown(() => serve.kill());
  const { url, adminUrl } = await serve.ready();
  const client = new TrustingClient(authority.root, Number(new URL(url).port));
  t.equal(await client.servedName(), 'first');
  t.equal(
    await certificateEnd(adminUrl),
    endOf(first.chain),
    'the end of the certificate, not of those above it',
  );

  const stream = await client.open('/ws');
  const frames: string[] = [];
  stream.on('message', (data) => frames.push(String(data)));
  stream.send(JSON.stringify({ type: 'subscribe', assets: [1] }));
  const publisher = await client.open('/evm/publish?ack=true');
  let price = 0;
  const publish = async () => {
    const update = { symbol: 'BTCUSD', price: units(++price), timestampNs: BigInt(Date.now()) * 1_000_000n };
    publisher.send(publishMessage('tls', [publisherSigner(1).sign(update)]));
    const [data] = (await once(publisher, 'message')) as [Buffer];
    return data.toString();
  };
  t.match(await publish(), '"accepted":["BTCUSD"]');
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1, ca: authority.root });
  t.teardown(() => agent.destroy());

  let isOver = false;
  /** Sends requests repeatedly, and counts the answers. */
  const ask = async (over: https.Agent | false, answers: Map<string, number>) => {
    while (!isOver) {
      const path = '/v1/prices/assets';
      const answer = await client.get(path, over).catch((error: NodeJS.ErrnoException) => `${error.code}`);
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
      await pause(5);
    }
  };
  const kept = new Map<string, number>();
  const fresh = new Map<string, number>();
  const asking = Promise.all([ask(agent, kept), ask(false, fresh)]);
  await eventually(() => kept.size > 0, { what: 'the connection that is kept is there' });
  const second = authority.issue('second', 20);
  put(second);
  serve.child.kill('SIGHUP');
  await serve.line(/the certificate was read again/);
  await eventually(async () => (await client.servedName().catch(() => '')) === 'second');
  // The service checks every 500 ms whether the last connection of the old listener has ended.
  await pause(1_500);
  isOver = true;
  await asking;
  const served = '200 {"data":["BTCUSD","DYDXUSD"]}';
  t.same([...kept.keys()], [served], 'a connection that is kept');
  // On a busy machine a connection may arrive between the last check of an old listener and its end.
  const resets = fresh.get('ECONNRESET') ?? 0;
  t.ok(resets <= RESETS_MAX, `${resets} new connections were reset`);
  fresh.delete('ECONNRESET');
  t.same([...fresh.keys()], [served], 'new connections');
  const framesBefore = frames.length;
  t.match(await publish(), '"accepted":["BTCUSD"]', 'the publisher has its connection');
  await eventually(() => frames.length > framesBefore, { what: 'the stream has its connection' });
  t.equal(await certificateEnd(adminUrl), endOf(second.chain));
  for (const ws of [stream, publisher]) ws.terminate();
});

async function certificateEnd(adminUrl: string): Promise<number> {
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  return Number(/^tickseal_certificate_expiry_timestamp_seconds (\d+)$/m.exec(metrics)?.[1]);
}

/** Returns the time at which the first certificate of a chain expires, in UNIX seconds. */
function endOf(chain: string): number {
  return Date.parse(new X509Certificate(chain).validTo) / 1000;
}
