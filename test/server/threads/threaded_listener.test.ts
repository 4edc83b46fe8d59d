import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'tap';
import WebSocket from 'ws';
import { claimPort } from '../../../src/server/uws/app.js';
import type { Fault } from './faulty_thread_main.js';
import {
  closeOf,
  EventQueue,
  messagesOf,
  type ServingHarness,
  type SocketEvent,
  startServingThreads,
} from './harness.js';

const CONNECTIONS = 24;
const SILENCE_MS_MAX = 1_500;
const RING_BYTES = 8_192;

type Connection = Awaited<ReturnType<ServingHarness['connect']>>;

/** So many that both threads are certain to have some. */
async function connectMany(threads: ServingHarness) {
  const connections: Connection[] = [];
  while (connections.length < CONNECTIONS) connections.push(await threads.connect());
  return connections;
}

test('requests and refusals pass through a thread as they are', async (t) => {
  const threads = await startServingThreads(2);
  t.teardown(() => threads.close());
  const response = await fetch(`http://${threads.url}/a/b?c=%20d`, {
    headers: { Authorization: 'Basic x', 'X-Forwarded-For': '198.51.100.1, 10.0.0.1' },
  });
  t.equal(response.headers.get('x-test'), 'yes');
  t.same(await response.json(), {
    method: 'GET',
    path: '/a/b',
    query: 'c=%20d',
    authorization: ['Basic x'],
    login: [],
    forwardedFor: ['198.51.100.1, 10.0.0.1'],
    address: '127.0.0.1',
    hasBody: false,
  });
  const head = await fetch(`http://${threads.url}/`, { method: 'HEAD' });
  t.same([head.status, await head.text()], [200, '']);
  t.equal((await fetch(`http://${threads.url}/ws`)).status, 426);
  const refused = new WebSocket(`ws://${threads.url}/ws?refuse`);
  const [, message] = await once(refused, 'unexpected-response');
  t.equal(message.statusCode, 403);
  message.resume();
});

test('messages, closing and dropping pass through a thread', async (t) => {
  const threads = await startServingThreads(2);
  t.teardown(() => threads.close());
  const { server, client } = await threads.connect();
  const messages = messagesOf(client);
  client.send('grüße');
  t.equal(await server.events.next(), 'grüße');
  client.send('x'.repeat(1001));
  t.equal(await server.events.next(), 'oversize 1001');
  server.socket.send('é as text');
  server.socket.send(Buffer.from('ascii as bytes'));
  t.same([await messages.next(), await messages.next()], ['é as text', 'ascii as bytes']);
  server.socket.close(4401, 'revoked');
  t.equal(await server.events.next(), 'closed', 'at once');
  t.equal(await closeOf(client), 4401);
  server.socket.send('to nobody');

  const other = await threads.connect();
  other.client.send(Buffer.from('binary'));
  t.equal(await closeOf(other.client), 1003);
  t.equal(await other.server.events.next(), 'closed');
});

test('a client that goes during its upgrade is closed, and what is meant for it goes nowhere', async (t) => {
  const threads = await startServingThreads(1);
  t.teardown(() => threads.close());
  for (let i = 0; i < 10; i++) {
    const socket = connectTcp(threads.listener.port, '127.0.0.1');
    const key = 'dGhlIHNhbXBsZSBub25jZQ==';
    socket.end(
      `GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
    );
    socket.on('error', () => {});
    const { socket: remote, events } = await threads.opened.next();
    socket.destroy();
    remote.join(1, 0);
    remote.send('hello');
    threads.fanOut.publish(1, Buffer.from('frame'), 1);
    let event = await events.next();
    // The thread may find the socket full before it finds it closed.
    while (typeof event === 'object') event = await events.next();
    t.equal(event, 'closed');
  }
});

test('members of a topic get its frames on every thread, in order with all else, and others do not', async (t) => {
  const threads = await startServingThreads(2);
  t.teardown(() => threads.close());
  const connections = await connectMany(threads);
  const all = connections.map(({ client, server }) => ({ server, messages: messagesOf(client) }));
  const expected: string[] = [];
  all.forEach(({ server: { socket } }, i) => {
    if (i % 3 === 0) return;
    socket.send('before');
    socket.join(4_000_000_000, 0);
  });
  expected.push('before');
  for (let i = 1; i <= 50; i++) {
    const frame = `frame ${i} ${'x'.repeat(i * 20)}`;
    threads.fanOut.publish(4_000_000_000, Buffer.from(frame), i);
    threads.fanOut.publish(5, Buffer.from('for nobody'), i);
    expected.push(frame);
  }
  for (const { server } of all) {
    server.socket.leave(4_000_000_000);
    server.socket.send('after');
  }
  threads.fanOut.publish(4_000_000_000, Buffer.from('for nobody any more'), 51);
  for (const { server } of all) server.socket.send('end');
  expected.push('after', 'end');
  for (const [i, { messages }] of all.entries()) {
    const received: string[] = [];
    while (received.at(-1) !== 'end') received.push(await messages.next());
    // Frames wait for the end of the turn, in which what is sent to one connection overtakes them.
    t.same(received.sort(), (i % 3 === 0 ? ['after', 'end'] : [...expected]).sort());
  }
  t.equal(threads.counters.threadOverruns, 0);
});

test('a slow reader leaves its topic with the sequence of its last frame, and drains', async (t) => {
  const threads = await startServingThreads(2, { ringBytes: 4 * 1024 * 1024 });
  t.teardown(() => threads.close());
  const { server, client } = await threads.connect();
  const frame = Buffer.alloc(65_536, 'x');
  let received = 0;
  client.on('message', () => {
    received++;
  });
  server.socket.join(1, 100);
  client.pause();
  let sequence = 100;
  const lagged = server.events.next();
  let isLagging = false;
  void lagged.then(() => {
    isLagging = true;
  });
  // One frame a turn, so that the thread sees what the one before has left in the socket.
  while (!isLagging) {
    threads.fanOut.publish(1, frame, ++sequence);
    server.socket.send('in between');
    await fetch(`http://${threads.url}/`).then((response) => response.text());
  }
  const { lagged: toldOf } = (await lagged) as { lagged: number };
  t.ok(toldOf > 100 && toldOf < sequence, `${toldOf} of ${sequence}`);
  server.socket.leave(1);
  client.resume();
  for (let drained = 1; drained > 0; ) {
    ({ drained } = (await server.events.next()) as { drained: number });
  }
  const got = new Promise<void>((resolve) => {
    client.on('message', (data) => {
      if (data.toString() === 'newest') resolve();
    });
  });
  server.socket.join(1, sequence);
  threads.fanOut.publish(1, Buffer.from('newest'), sequence + 1);
  await got;
  t.equal(
    received,
    toldOf - 100 + (sequence - 100) + 1,
    'the frames before it lagged, the replies, and the newest',
  );
});

test('a thread that stands still is left out, loses no connection, and goes on with the newest', async (t) => {
  const threads = await startServingThreads(2, { ringBytes: RING_BYTES });
  t.teardown(() => threads.close());
  const connections = await connectMany(threads);
  const hangUntil = new Int32Array(new SharedArrayBuffer(4));
  for (const { server } of connections) server.socket.join(1, 0);
  const messages = connections.map(({ client }) => messagesOf(client));
  const arrivals = new EventQueue<number>();
  for (const { client } of connections) {
    let count = 0;
    client.on('message', () => arrivals.add(++count));
  }
  await threads.inject(hangUntil);
  // All of them together fit into the buffers of a socket, so that the ring alone is what fills up.
  const frame = Buffer.alloc(1_000, 'x');
  let sequence = 0;
  while (threads.counters.threadOverruns === 0) {
    threads.fanOut.publish(1, frame, ++sequence);
    // The other thread keeps up.
    while (threads.counters.threadOverruns === 0 && (await arrivals.next()) < sequence);
  }
  const laggards = new Set<number>();
  for (const [i, { server }] of connections.entries()) {
    connections[i]!.client.send('alive');
    const event = await server.events.next();
    if (event === 'alive') continue;
    laggards.add(i);
    t.same(event, { lagged: sequence - 1 });
    server.socket.leave(1);
  }
  t.ok(laggards.size > 0 && laggards.size < CONNECTIONS, `${laggards.size} of ${CONNECTIONS}`);
  t.equal(threads.counters.threadOverruns, 1);
  const { frameBytes } = threads.listener.waiting;
  t.ok(frameBytes <= RING_BYTES && frameBytes > RING_BYTES - 2 * frame.length, `${frameBytes} bytes wait`);
  threads.fanOut.publish(1, Buffer.from('without them'), ++sequence);

  Atomics.store(hangUntil, 0, 1);
  Atomics.notify(hangUntil, 0);
  for (const i of laggards) {
    const { server } = connections[i]!;
    // The message from above may come first.
    for (
      let event: SocketEvent = '';
      !(typeof event === 'object' && 'drained' in event && event.drained === 0);
    )
      event = await server.events.next();
    server.socket.join(1, sequence);
  }
  threads.fanOut.publish(1, Buffer.from('newest'), ++sequence);
  for (const [i, one] of messages.entries()) {
    const texts: string[] = [];
    while (texts.at(-1) !== 'newest') texts.push(await one.next());
    t.equal(texts.includes('without them'), !laggards.has(i));
    if (!laggards.has(i)) t.equal(texts.length, sequence);
  }
  t.equal(threads.listener.threads, 2);
  t.equal(threads.listener.waiting.frameBytes, 0);
});

test('a thread that crashes takes only its own connections with it and is replaced', async (t) => {
  const threads = await startServingThreads(2);
  t.teardown(() => threads.close());
  const connections = await connectMany(threads);
  for (const { server } of connections) server.socket.join(1, 0);
  const messages = connections.map(({ client }) => messagesOf(client));
  await threads.inject('crash');
  t.equal(await Promise.race(connections.map(({ client }) => closeOf(client))), 1006);
  const closed = await closedOf(connections);
  t.ok(closed.size > 0 && closed.size < CONNECTIONS, `${closed.size} of ${CONNECTIONS}`);
  threads.fanOut.publish(1, Buffer.from('still here'), 1);
  for (const [i, one] of messages.entries()) if (!closed.has(i)) t.equal(await one.next(), 'still here');
  t.equal(threads.counters.threadFailures, 1);
  while (threads.listener.threads < 2) await threads.connect();
  const later = await connectMany(threads);
  await threads.inject('crash');
  await Promise.race(later.map(({ client }) => closeOf(client)));
  const closedLater = await closedOf(later);
  t.ok(closedLater.size > 0 && closedLater.size < CONNECTIONS, 'the new thread serves too');
});

/** What sends a thread into the loop for which a {@link Fault} has prepared it. */
const TRIGGERS = {
  request: ({ url }) => fetch(`http://${url}/`).catch(() => {}),
  upgrade: ({ url }) => new WebSocket(`ws://${url}/ws?refuse`).on('error', () => {}),
  text: (_threads, { client }) => client.send('hello'),
  closed: (_threads, { client }) => client.close(),
} as const satisfies Record<string, (threads: ServingHarness, connection: Connection) => void>;

const HANGS: readonly { name: string; fault: Fault; trigger?: keyof typeof TRIGGERS }[] = [
  { name: 'in a message of the main thread', fault: 'loop' },
  { name: 'on shared memory', fault: new Int32Array(new SharedArrayBuffer(4)) },
  ...(['request', 'upgrade', 'text', 'closed'] as const).map((trigger) => ({
    name: `in the handler of: ${trigger}`,
    fault: { loopAt: trigger },
    trigger,
  })),
];

for (const { name, fault, trigger } of HANGS) {
  test(`a thread that hangs ${name} is ended with its own connections alone, and replaced`, async (t) => {
    const threads = await startServingThreads(2, { silenceMsMax: SILENCE_MS_MAX });
    t.teardown(() => threads.close());
    const disturbers = await connectMany(threads);
    const connections = await connectMany(threads);
    for (const { server } of connections) server.socket.join(1, 0);
    const messages = connections.map(({ client }) => messagesOf(client));
    await threads.inject(fault);
    if (trigger !== undefined) for (const disturber of disturbers) TRIGGERS[trigger](threads, disturber);
    t.equal(await threads.failures.next(), 'the thread hangs');
    t.equal(threads.listener.threads, 1);
    t.equal(await Promise.race(connections.map(({ client }) => closeOf(client))), 1006);
    const closed = await closedOf(connections);
    t.ok(closed.size > 0 && closed.size < CONNECTIONS, `${closed.size} of ${CONNECTIONS}`);
    threads.fanOut.publish(1, Buffer.from('still here'), 1);
    for (const [i, one] of messages.entries()) if (!closed.has(i)) t.equal(await one.next(), 'still here');
    while (threads.listener.threads < 2) await threads.connect();
    t.equal(threads.counters.threadFailures, 1);
    const later = await connectMany(threads);
    for (const { client } of later) client.send('alive');
    for (const { server } of later) t.equal(await server.events.next(), 'alive', 'the new thread serves too');
  });
}

test('the end ends a thread that hangs', async (t) => {
  const threads = await startServingThreads(2);
  const { client } = await threads.connect();
  await threads.inject('loop');
  const closed = closeOf(client);
  await threads.listener.close();
  t.equal(await closed, 1006);
  t.ok(await claimPort({ host: '127.0.0.1', port: threads.listener.port }), 'nobody listens any more');
  t.same(threads.counters.threadFailures, 0);
  await threads.close();
});

/** The places of those that are closed; the others say that they are alive. */
async function closedOf(connections: readonly Connection[]): Promise<ReadonlySet<number>> {
  const closed = new Set<number>();
  for (const [i, { server, client }] of connections.entries()) {
    if (client.readyState === WebSocket.OPEN) client.send('alive');
    if ((await server.events.next()) === 'closed') closed.add(i);
  }
  return closed;
}

test('threads that accept no connections keep those that they have, and accept again', async (t) => {
  const threads = await startServingThreads(2);
  t.teardown(() => threads.close());
  const { server, client } = await threads.connect();
  threads.listener.setAccepting(false);
  // The threads hear of it in their own time.
  while (!(await isRefused(threads.listener.port)));
  client.send('still here');
  t.match(await server.events.next(), /still here/);
  threads.listener.setAccepting(true);
  while (await isRefused(threads.listener.port));
  t.ok(await threads.connect());
  t.equal(threads.counters.threadFailures, 0);
});

test('a thread that is started while no connections are accepted takes none either', async (t) => {
  const threads = await startServingThreads(1);
  t.teardown(() => threads.close());
  threads.listener.setAccepting(false);
  while (!(await isRefused(threads.listener.port)));
  await threads.inject('crash');
  while (threads.listener.threads > 0) await nextTurn();
  while (threads.listener.threads === 0) await nextTurn();
  while (!(await isRefused(threads.listener.port)));
  threads.listener.setAccepting(true);
  while (await isRefused(threads.listener.port));
  t.ok(await threads.connect());
});

test('what waits between the threads is measured', async (t) => {
  const threads = await startServingThreads(2);
  t.teardown(() => threads.close());
  const { client, server } = await threads.connect();
  await nextTurn();
  t.same(threads.listener.waiting, { frameBytes: 0, eventBytes: 0 });
  client.send('hello');
  // This thread cannot take it while it looks.
  while (threads.listener.waiting.eventBytes === 0);
  t.ok(threads.listener.waiting.eventBytes > 'hello'.length);
  t.equal(await server.events.next(), 'hello');
  await nextTurn();
  t.same(threads.listener.waiting, { frameBytes: 0, eventBytes: 0 });
});

/** Nobody listens there any more; a listener that closes at this moment resets the connection instead. */
function isRefused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTcp(port, '127.0.0.1');
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code === 'ECONNREFUSED'));
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
  });
}

test('another service is kept off the port, and the port is free when all is closed', async (t) => {
  const threads = await startServingThreads(2);
  const at = { host: '127.0.0.1', port: threads.listener.port };
  await t.rejects(claimPort(at), /in use/);
  threads.listener.setAccepting(false);
  await threads.close();
  t.equal(await claimPort(at), at.port);
});
