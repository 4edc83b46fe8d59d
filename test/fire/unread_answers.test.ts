import { connect } from 'node:net';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { startTestService, TOKEN } from '../service/harness.js';
import { THREAD_COUNTS } from '../tier.js';

const CONNECTIONS = 20;
const ASSETS = 2_000;
/** The answers have 200 kB, so a connection requests 20 MB, more than the socket buffers of both sides. */
const REQUESTS = 100;
const BATCH = 10;
const MIB = 1024 * 1024;
/** The limit of a thread, and a tolerance for the heap. */
const GROWTH_MIB_MAX = 120;

/** The number of assets whose answer is small, with about 10 kB. The requests of a connection then ask for 40 MB. */
const FEW_ASSETS = 100;
const MANY_REQUESTS = 4_000;
const LARGE_BATCH = 50;

const REQUEST = `GET /v1/taxonomy HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${TOKEN}\r\n\r\n`;

/** Sends batches of requests repeatedly, and reads nothing. */
class Deaf {
  readonly socket;
  /** True when all requests are sent, or the connection has ended. */
  isDone = false;
  isClosed = false;
  readonly #batch: number;

  constructor(port: number, requests: number, batch: number) {
    this.#batch = batch;
    this.socket = connect(port, '127.0.0.1', () => this.#ask(requests)).pause();
    this.socket
      .on('error', () => {})
      .on('close', () => {
        this.isDone = true;
        this.isClosed = true;
      });
  }

  #ask(left: number): void {
    if (left === 0) this.isDone = true;
    if (this.isDone) return;
    const batch = this.#batch;
    this.socket.write(REQUEST.repeat(batch), () => setTimeout(() => this.#ask(left - batch), 20));
  }
}

for (const threads of THREAD_COUNTS)
  test(`${threads} thread(s): answers that nobody reads are bounded`, async (t) => {
    const assets = Array.from({ length: ASSETS }, (_, id) => ({ id, symbol: `ASSET${id}USD` }));
    const service = await startTestService({ listen: { threads }, assets });
    t.teardown(() => service.stop());
    const before = process.memoryUsage.rss();
    const clients = Array.from({ length: CONNECTIONS }, () => new Deaf(service.port, REQUESTS, BATCH));
    let most = before;
    await eventually(() => {
      most = Math.max(most, process.memoryUsage.rss());
      return clients.every(({ isDone }) => isDone);
    });
    const grownMib = (most - before) / MIB;
    t.ok(grownMib < GROWTH_MIB_MAX, `${Math.round(grownMib)} MiB more`);
    for (const { socket } of clients) socket.destroy();
  });

test('a connection that reads no small answers ends', async (t) => {
  const assets = Array.from({ length: FEW_ASSETS }, (_, id) => ({ id, symbol: `ASSET${id}USD` }));
  const service = await startTestService({ assets });
  t.teardown(() => service.stop());
  const client = new Deaf(service.port, MANY_REQUESTS, LARGE_BATCH);
  await eventually(() => client.isDone);
  t.ok(client.isClosed, 'the service closed the connection');
  client.socket.destroy();
});
