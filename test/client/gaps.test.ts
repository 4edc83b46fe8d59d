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
