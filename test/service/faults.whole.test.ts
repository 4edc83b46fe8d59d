import { connect } from 'node:net';
import { type Test, test } from 'tap';
import { eventually, pause } from '../../scripts/load/wait.js';
import { publishMessage } from '../../src/client/index.js';
import { ServeProcess, writeConfig } from './child.js';
import { FAULT_VARIABLE, type Fault } from './fault_injection.js';
import { Feed, units } from './feed.js';
import { TestSocket } from './harness.js';

// Tests of faults of the service itself, in whole processes: an uncaught exception, and a thread that hangs.

const STREAMS = 16;
/** The interval of checks. A check in each turn would keep both cores busy for the five seconds until a thread counts as hung. */
const LOOK_MS = 10;
/** The number of signatures is large enough that the crypto threads have work. */
const ASSETS = Array.from({ length: 200 }, (_, i) => ({ id: i + 1, symbol: `A${i + 1}` }));

async function start(t: Test, fault: Fault, threads: number) {
  const file = writeConfig(t.testdir(), { listen: { port: 0, threads }, assets: ASSETS });
  const running = new ServeProcess(['--config', file], {
    NODE_OPTIONS: `--import ${new URL('./fault_injection.js', import.meta.url).href}`,
    [FAULT_VARIABLE]: fault,
  });
  t.teardown(() => running.kill());
  const urls = await running.ready();
  const streams = await Promise.all(
    Array.from({ length: STREAMS }, () => TestSocket.open(`${urls.socketUrl}/ws?channel=10ms`)),
  );
  for (const stream of streams) stream.send({ type: 'subscribe', assets: [1] });
  const feed = await Feed.open(urls);
  return { running, ...urls, streams, feed, inject: () => running.child.kill('SIGUSR2') };
}

function errorLines({ stdout }: ServeProcess): string[] {
  return stdout.split('\n').filter((line) => line.includes('"level":50'));
}

/** Publishes a new price of all assets, and does not wait for the answer. */
function publish(feed: Feed, count: number): void {
  const quotes = ASSETS.map(({ symbol }) => feed.sign({ symbol, price: units(count) }));
  feed.socket.send(publishMessage('', quotes));
}

for (const kind of ['exception', 'rejection'] as const) {
  test(`the process exits after a fatal ${kind}, logged once`, async (t) => {
    const { running, streams, feed, inject } = await start(t, kind, kind === 'exception' ? 1 : 2);
    publish(feed, 1);
    await Promise.all(streams.map((stream) => stream.next()));
    publish(feed, 2);
    inject();
    t.same(await running.exited, { code: 1, signal: null });
    for (const stream of streams) t.equal((await stream.closed).code, 1006);
    const [fatal, ...others] = running.stdout.split('\n').filter((line) => line.includes('"level":60'));
    t.match(JSON.parse(fatal!), {
      err: { message: 'injected by the test', stack: /fault_injection\.[jt]s/ },
    });
    t.same(others, []);
    t.equal(running.stderr, '');
  });
}

test('a thread that hangs is not ready, counted, logged and replaced, and the streams of others go on', async (t) => {
  const { running, adminUrl, socketUrl, streams, feed, inject } = await start(t, 'hang', 2);
  t.equal((await fetch(`${adminUrl}/readyz`)).status, 200);
  const closed: number[] = [];
  for (const stream of [...streams, feed.socket]) void stream.closed.then(({ code }) => closed.push(code));
  const reasons = new Set<string>();
  /** Polls the readiness until `hung` threads have hung and the service is ready again. */
  const lookUntil = async (hung: number) => {
    for (let isOver = false; !isOver; await pause(LOOK_MS)) {
      const hasHung = errorLines(running).length >= hung && closed.length > 0;
      const response = await fetch(`${adminUrl}/readyz`);
      const { error } = (await response.json()) as { error?: string };
      if (error !== undefined) reasons.add(error);
      isOver = hasHung && response.ok;
    }
  };
  inject();
  await lookUntil(1);
  t.match(JSON.parse(errorLines(running)[0]!), {
    msg: /being replaced/,
    err: { message: 'the thread hangs' },
  });
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  t.match(metrics, /^tickseal_listen_thread_failures_total 1$/m);
  t.match(metrics, /^tickseal_listen_threads 2$/m);

  const open = streams.filter(({ ws }) => ws.readyState === ws.OPEN);
  t.ok(open.length > 0 && open.length < STREAMS, `${open.length} of ${STREAMS} go on`);
  t.match(metrics, new RegExp(`^tickseal_connections ${STREAMS + 1 - closed.length}$`, 'm'));
  t.ok(closed.every((code) => code === 1006));
  const again = await Feed.open({ socketUrl });
  publish(again, 3);
  t.match(await again.socket.nextJson(), { type: 'ack', rejected: {} });
  for (const stream of open) t.match(await stream.next(), `"v":"${units(3)}"`);
  // The loop injects further faults, because a thread is missing for only about 0.3 s. That time could fall between two checks.
  for (let hung = 2; reasons.size === 0; hung++) {
    inject();
    await lookUntil(hung);
  }
  t.same([...reasons], ['a thread that serves sockets is being replaced']);
  // A thread hangs when the process receives the signal to end.
  inject();
  running.child.kill('SIGTERM');
  t.same(await running.exited, { code: 0, signal: null });
  t.equal(running.stderr, '');
});

const HEAD = 'GET /v1/prices/latest?assets=A1 HTTP/1.1\r\nHost: x\r\n';
const UPGRADE =
  'GET /ws?channel=10ms HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
/** Bytes that leave a connection in any state in which its thread can end. A thread answers fewer than 300 requests in one turn. */
const UNFINISHED = [
  HEAD,
  `${HEAD}\r\n`.repeat(300),
  `${HEAD}\r\n${HEAD}`,
  `${HEAD}Content-Length: 3\r\n\r\nab`,
  UPGRADE,
  UPGRADE.slice(0, -9),
  `${UPGRADE}\x81\xfe`,
];

test('the process survives threads that crash with connections in any state', async (t) => {
  const { running, url, adminUrl, inject } = await start(t, 'crash', 2);
  const isRepaired = async (crashes: number) => {
    const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
    const [, failures] = /^tickseal_listen_thread_failures_total (\d+)$/m.exec(metrics) ?? [];
    return Number(failures) === crashes && /^tickseal_listen_threads 2$/m.test(metrics);
  };
  for (let crashes = 1; crashes <= 3; crashes++) {
    const sockets = Array.from({ length: 8 * UNFINISHED.length }, (_, i) => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
      socket.write(UNFINISHED[i % UNFINISHED.length]!, 'latin1');
      // A paused client reads nothing, so the service must wait for the client.
      return i % 5 === 0 ? socket.pause() : socket.resume();
    });
    await pause(10 * LOOK_MS);
    inject();
    await eventually(() => isRepaired(crashes));
    for (const socket of sockets) socket.destroy();
  }
  running.child.kill('SIGTERM');
  t.same(await running.exited, { code: 0, signal: null });
});
