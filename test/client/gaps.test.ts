import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { createStreamClient, type GapEvent, type Tick } from '../../src/client/node_index.js';
import { type ContractServer, startContractServer, TOKEN } from './contract_server.js';
import { bodyOf, SIGNER, signed } from './signed_payload.js';

// Tests of broken connections between the service and the client, and of the gaps that a stream reports.

const NS_PER_MS = 1_000_000n;

function sendFrame(server: ContractServer, timestampNs: bigint, price: bigint): void {
  const body = bodyOf({ taxonomyId: 1, timestampNs, assets: [[1, price, 1]] }, false);
  server.broadcast(JSON.stringify({ type: 'signed_ecdsa', p: signed(body) }));
}

test('a stream tells a gap after its last connection was cut, and none while another one lives', async (t) => {
  const servers = [await startContractServer(), await startContractServer()] as const;
  const [one, other] = servers;
  t.teardown(() => Promise.all(servers.map((server) => server.close())));
  for (const urls of [[one.url], [one.url, other.url]]) {
    const client = createStreamClient({ urls, token: TOKEN, signers: [SIGNER] });
    const gaps: GapEvent[] = [];
    client.on('gap', (gap) => gaps.push(gap));
    const ticks: Tick[] = [];
    const stream = client.stream(['BTCUSD']);
    const done = (async () => {
      for await (const tick of stream) ticks.push(tick);
    })();
    const open = urls.map((url) => (url === one.url ? one : other));
    const cut = async (server: ContractServer) => {
      const subscribed = server.received.length;
      for (const socket of server.sockets) socket.terminate();
      await eventually(() => server.sockets.size === 1 && server.received.length > subscribed);
    };
    const startNs = BigInt(Date.now()) * NS_PER_MS;
    const arrived = async (ms: bigint, price: bigint, from = open) => {
      for (const server of from) sendFrame(server, startNs + ms * NS_PER_MS, price);
      await eventually(() => ticks.at(-1)?.price === price);
    };
    await eventually(() => open.every((server) => server.received.length > 0 && server.sockets.size === 1));
    await arrived(0n, 1n);
    t.same(gaps, []);
    await cut(one);
    await arrived(200n, 2n, open.slice(-1));
    await arrived(300n, 3n);
    const gap = { symbols: ['BTCUSD'], fromNs: startNs, toNs: startNs + 200n * NS_PER_MS };
    t.same(gaps, open.length === 1 ? [gap] : [], `${open.length} services`);
    await stream.close();
    await done;
    await client.close();
    await eventually(() => open.every((server) => server.sockets.size === 0));
    for (const server of open) server.received.length = 0;
  }
});

test('a stream tells the ticks that it lost on a connection that stayed up, and nothing else', async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  const client = createStreamClient({ urls: server.url, token: TOKEN, signers: [SIGNER] });
  t.teardown(() => client.close());
  for (const channel of ['real_time', '100ms'] as const) {
    const gaps: GapEvent[] = [];
    const removeListener = client.on('gap', (gap) => gaps.push(gap));
    const errors: Error[] = [];
    const removeErrors = client.on('error', (error) => errors.push(error));
    const stream = client.stream(['BTCUSD'], { channel });
    const ticks: Tick[] = [];
    const done = (async () => {
      for await (const tick of stream) ticks.push(tick);
    })();
    const subscribed = server.received.length;
    await eventually(() => server.received.length > subscribed);
    const startNs = (BigInt(Date.now()) / 1_000n) * 1_000n * NS_PER_MS;
    const atNs = (ms: number) => startNs + BigInt(ms) * NS_PER_MS;
    const send = async (...frames: readonly (readonly [ms: number, price: bigint])[]) => {
      for (const [ms, price] of frames) sendFrame(server, atNs(ms), price);
      await eventually(() => ticks.at(-1)?.price === frames.at(-1)![1]);
    };
    await send([0, 1n]);
    await send([100, 2n]);
    t.same(gaps, []);
    // The server sends these frames before the client reads the first frame.
    await send([200, 3n], [300, 4n], [400, 5n], [500, 6n]);
    t.same(gaps.splice(0), [{ symbols: ['BTCUSD'], fromNs: atNs(100), toNs: atNs(500) }], channel);
    await send([600, 7n]);
    // A pause without prices is no loss.
    await send([2_000, 8n]);
    t.same(gaps, [], channel);
    server.broadcast(JSON.stringify({ type: 'signed_ecdsa', p: '0x00' }));
    await eventually(() => errors.length === 1);
    await send([2_200, 9n]);
    t.same(gaps, [{ symbols: ['BTCUSD'], fromNs: atNs(2_000), toNs: atNs(2_200) }], channel);
    await stream.close();
    await done;
    removeListener();
    removeErrors();
  }
});
