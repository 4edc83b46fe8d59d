import { connect as connectTcp } from 'node:net';
import { type Test, test } from 'tap';
import { eventually } from '../../../../scripts/load/wait.js';
import { publishMessage } from '../../../../src/client/index.js';
import type { Price } from '../../../../src/model/price.js';
import { publisherSigner, TestSocket } from '../../harness.js';
import { type EdgesHarness, startEdges } from '../harness.js';

/** The number of connections. With this number, both threads almost certainly have some of the connections. */
const CONNECTIONS = 16;
/**
 * The longest silence. On a busy machine, a healthy thread is silent for a shorter time. A starting thread has twelve times this
 * time.
 */
const SILENCE_MS_MAX = 4_000;

/** Opens streams that subscribe to the first asset. */
async function openStreams({ url }: EdgesHarness, count = CONNECTIONS): Promise<TestSocket[]> {
  const streams = await Promise.all(Array.from({ length: count }, () => TestSocket.open(`ws://${url}/ws`)));
  for (const stream of streams) stream.send({ type: 'subscribe', assets: [1] });
  return streams;
}

/** Waits until each open stream has received this price. */
async function receive(streams: readonly TestSocket[], price: bigint): Promise<void> {
  for (const stream of streams) while (!(await stream.next()).includes(`"v":"${price}"`));
}

const isOpen = ({ ws }: TestSocket) => ws.readyState === ws.OPEN;

async function oneCloses(streams: readonly TestSocket[]): Promise<void> {
  const { code } = await Promise.race(streams.map(({ closed }) => closed));
  if (code !== 1006) throw new Error(`closed with ${code}`);
}

/** Waits until a thread has ended and its replacement serves. */
async function replaced({ edges }: EdgesHarness): Promise<void> {
  await eventually(() => edges.count === 1);
  await eventually(() => edges.count === 2);
}

test('a thread that hangs when it starts is replaced too', async (t) => {
  const harness = await startEdges(t, {}, { silenceMsMax: SILENCE_MS_MAX / 2 });
  harness.hangAtStart();
  harness.inject('crash');
  await eventually(() => harness.failures.length === 2);
  await eventually(() => harness.edges.count === 2);
  t.same(harness.failures, ['injected by the test', 'the thread hangs']);
  await receivesPrices(t, harness);
});

test('threads that cannot listen are an error', async (t) => {
  const tls = { certFile: '/nowhere/cert.pem', keyFile: '/nowhere/key.pem' };
  const at = { host: '127.0.0.1', port: 0, tls };
  await t.rejects(startEdges(t, {}, { at }), /TLS|cert/i);
});

test('the messages of publishers are taken once, also while their thread crashes', async (t) => {
  const harness = await startEdges(t, {});
  const publishers = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => TestSocket.open(`ws://${harness.url}/evm/publish?ack=true`)),
  );
  const acked = new Set<unknown>();
  for (const { ws } of publishers)
    ws.on('message', (data) => acked.add((JSON.parse(data.toString()) as { trace_id: unknown }).trace_id));
  const update = publisherSigner(1).sign({
    symbol: 'BTCUSD',
    price: 1n,
    timestampNs: BigInt(Date.now()) * 1_000_000n,
  });
  let sent = 0;
  const sendAll = () => {
    for (const one of publishers) if (isOpen(one)) one.send(publishMessage(`message ${sent++}`, [update]));
  };
  for (let i = 0; i < 10; i++) sendAll();
  harness.inject('crash');
  for (let i = 0; i < 10; i++) sendAll();
  await oneCloses(publishers);
  await replaced(harness);
  const open = publishers.filter(isOpen);
  t.ok(open.length > 0 && open.length < CONNECTIONS);
  const first = sent;
  sendAll();
  for (let i = first; i < sent; i++) await eventually(() => acked.has(`message ${i}`));
  t.equal(new Set(harness.received).size, harness.received.length, 'none was taken twice');
  const received = new Set<unknown>(harness.received);
  t.ok(
    [...acked].every((traceId) => received.has(traceId)),
    'none was acknowledged that was not taken',
  );
});

test('threads that accept no connections keep those that they have, and one that replaces another accepts none either', async (t) => {
  const harness = await startEdges(t, {});
  const { edges } = harness;
  const streams = await openStreams(harness);
  edges.tell({ do: 'setAccepting', accepting: false });
  await eventually(() => isRefused(edges.port));
  harness.inject('crash');
  await oneCloses(streams);
  await replaced(harness);
  await eventually(() => isRefused(edges.port));
  harness.price(harness.listed()[0]!, 9n as Price);
  await receive(streams.filter(isOpen), 9n);
  edges.tell({ do: 'setAccepting', accepting: true });
  await eventually(async () => !(await isRefused(edges.port)));
  await receivesPrices(t, harness);
});

async function receivesPrices(t: Test, harness: EdgesHarness): Promise<void> {
  const streams = await openStreams(harness);
  harness.price(harness.listed()[0]!, 77n as Price);
  await receive(streams, 77n);
  t.ok(streams.every(isOpen));
}

/**
 * Returns whether no process listens on the port any more. A listener that closes at this moment resets the connection instead of
 * refusing it.
 */
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
