import { connect, type Socket } from 'node:net';
import { type Test, test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { publishMessage } from '../../src/client/index.js';
import { openTcpCounters } from '../../src/server/uws/tcp_counters.js';
import { Feed, units } from '../service/feed.js';
import { startTestService, type TestService, TOKEN } from '../service/harness.js';

// Tests of publishers with an unfinished message, and of publishers that never read. The service distinguishes them by the
// kernel's byte counts.

const KIB = 1024;
/** The time limit for a message, and a tolerance for busy machines. */
const UNFINISHED_MS_MAX = 11_000;

/** The interval of unsolicited pongs; `control_messages_per_second` is 10. */
const PONG_MS = 500;

/** The number of silent publishers: more than a token may have with an unfinished message. */
const QUIET = 10;

/** A connection that never reads, and therefore answers no pings. */
class Deaf {
  readonly socket: Socket;
  isClosed = false;

  private constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket
      .on('error', () => undefined)
      .on('close', () => {
        this.isClosed = true;
      });
    const lines = [
      'Host: test',
      'Upgrade: websocket',
      'Connection: Upgrade',
      `Sec-WebSocket-Key: ${'A'.repeat(22)}==`,
    ];
    lines.push('Sec-WebSocket-Version: 13', `Authorization: Basic ${TOKEN}`);
    this.socket.write(`GET /evm/publish HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  }

  static async open({ port }: TestService): Promise<Deaf> {
    const deaf = new Deaf(port);
    await new Promise((resolve) => deaf.socket.once('data', resolve));
    return deaf;
  }

  /** Begins a message with a frame of `bytes` bytes, and then answers pings: control frames may come between two fragments. */
  begin(bytes: number): void {
    const head = Buffer.alloc(14);
    head.writeUInt16BE(0x01ff);
    head.writeBigUInt64BE(BigInt(bytes), 2);
    this.socket.write(Buffer.concat([head, Buffer.alloc(bytes, ' ')]));
    const pongs = setInterval(() => this.socket.write(Buffer.from([0x8a, 0x80, 0, 0, 0, 0])), PONG_MS);
    this.socket.on('close', () => clearInterval(pongs));
  }

  /** Sends a frame with a mask of zeros, or only the first `sent` bytes of the frame. */
  send(text: string, sent = text.length): void {
    const head = Buffer.alloc(14);
    head.writeUInt16BE(0x81ff);
    head.writeBigUInt64BE(BigInt(text.length), 2);
    this.socket.write(Buffer.concat([head, Buffer.from(text.slice(0, sent))]));
  }
}

test('unfinished messages are ended after some seconds, silent publishers are not', async (t) => {
  // The tests with one and two threads run at the same time, because both mostly wait.
  t.jobs = 2;
  await Promise.all([1, 2].map((threads) => t.test(`${threads} threads`, (t) => endsUnfinished(t, threads))));
});

async function endsUnfinished(t: Test, threads: number): Promise<void> {
  const service = await startTestService({ listen: { port: 0, threads } });
  t.teardown(() => service.stop());
  // The first publisher answers pings; the second publisher has published, but does not read.
  const reader = await Feed.open(service);
  const published = await Deaf.open(service);
  published.send(publishMessage('a', [reader.sign({ symbol: 'BTCUSD', price: units(1) })]));
  // These publishers have not published yet, and do not read.
  const quiet = await Promise.all(Array.from({ length: QUIET }, () => Deaf.open(service)));
  const attackers: Deaf[] = [];
  const startMs = performance.now();
  for (let i = 0; i < 20; i++) {
    const attacker = await Deaf.open(service);
    attacker.send('x'.repeat(100 * KIB), 50 * KIB);
    attackers.push(attacker);
  }
  const open = () => attackers.filter(({ isClosed }) => !isClosed).length;
  await eventually(() => open() === 0, { what: 'all are closed' });
  const tookMs = performance.now() - startMs;
  t.ok(tookMs <= UNFINISHED_MS_MAX, `closed after ${Math.round(tookMs)} ms`);
  t.notOk(published.isClosed, 'one that has published does not count');
  if (openTcpCounters() !== undefined)
    t.equal(quiet.filter(({ isClosed }) => isClosed).length, 0, 'those that have sent nothing do not count');
  await reader.accept({ symbol: 'BTCUSD', price: units(2) });
  for (const { socket } of [...attackers, ...quiet, published]) socket.destroy();
  await reader.socket.close();
}

test('a message of more than twice the limit ends the connection before it is there', async (t) => {
  const service = await startTestService({ limits: { publish_message_bytes: '64 KiB' } });
  t.teardown(() => service.stop());
  const within = await Deaf.open(service);
  within.send('x'.repeat(128 * KIB), 1);
  const over = await Deaf.open(service);
  over.send('x'.repeat(128 * KIB + 1), 1);
  await eventually(() => over.isClosed);
  t.notOk(within.isClosed);
  within.socket.destroy();
});

test('unfinished messages of all connections have a bound, also of clients that answer pings', async (t) => {
  if (openTcpCounters() === undefined) {
    t.pass('this system has no counts');
    return;
  }
  const service = await startTestService({});
  t.teardown(() => service.stop());
  const reader = await Feed.open(service);
  const attackers = await Promise.all(Array.from({ length: 24 }, () => Deaf.open(service)));
  for (const attacker of attackers) attacker.begin(1024 * KIB);
  const open = () => attackers.filter(({ isClosed }) => !isClosed).length;
  await eventually(() => open() <= 16, { what: 'those above 16 MiB are closed' });
  await reader.accept({ symbol: 'BTCUSD', price: units(1) });
  t.ok(open() > 0, 'the others stay');
  for (const { socket } of attackers) socket.destroy();
  await reader.socket.close();
});
