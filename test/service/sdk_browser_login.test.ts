import { test } from 'tap';
import { WebSocket } from 'ws';
import { eventually } from '../../scripts/load/wait.js';
import { NODE } from '../../src/client/connect/node_platform.js';
import { Client, type ClientOptions } from '../../src/client/index.js';
import { Feed, units } from './feed.js';
import { startTestService, TOKEN, withTokens } from './harness.js';

// Tests of the client on a platform whose sockets send no headers, like the sockets of browsers. The client logs in with
// tickets.

/** Creates a client whose sockets, like a browser's, cannot send headers but only subprotocols. */
function browserClient(options: Partial<ClientOptions> & { readonly urls: string }): {
  readonly client: Client;
  readonly upgrades: { readonly url: string; readonly protocols: readonly string[] }[];
} {
  const upgrades: { url: string; protocols: readonly string[] }[] = [];
  const client = new Client(
    { token: TOKEN, signers: 'unchecked', ...options },
    {
      ...NODE,
      sendsHeaders: false,
      openSocket(url, headers, protocols = []) {
        if (Object.keys(headers).length > 0) throw new Error('a browser sends no headers');
        upgrades.push({ url, protocols });
        return new WebSocket(url, [...protocols]);
      },
    },
  );
  return { client, upgrades };
}

test('each connection has a ticket of its own, and no address carries a secret', async (t) => {
  const service = await startTestService();
  t.teardown(() => service.stop());
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(1) });
  const { client, upgrades } = browserClient({ urls: service.url });
  for (let i = 0; i < 2; i += 1) {
    const { value } = await client.stream(['BTCUSD'], { channel: '20ms' }).next();
    t.equal(value!.decimal, '1');
  }
  const tickets = upgrades.map(({ url, protocols }) => {
    t.notMatch(url, /ticket|token/);
    t.equal(protocols.length, 2);
    t.equal(protocols[0], 'tickseal.v1');
    return protocols[1];
  });
  t.equal(new Set(tickets).size, 2);
  t.throws(() => client.publisher({ key: '1', oracleId: 'tests' }), TypeError);
  await client.close();
});

test('a revoked token is replaced, or ends the stream', async (t) => {
  const service = await startTestService(withTokens('first'));
  t.teardown(() => service.stop());
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(1) });
  let current = 'first';
  const renewing = browserClient({ urls: service.url, token: undefined, getToken: () => current });
  const fixed = browserClient({ urls: service.url, token: 'first' });
  const streams = [renewing, fixed].map(({ client }) => client.stream(['BTCUSD'], { channel: '20ms' }));
  for (const stream of streams) await stream.next();
  service.reconfigure(withTokens('second'));
  current = 'second';
  await feed.accept({ symbol: 'BTCUSD', price: units(2) });
  await eventually(async () => (await streams[0]!.next()).value!.price === units(2));
  await t.rejects(
    (async () => {
      for await (const _ of streams[1]!);
    })(),
    { name: 'RefusedError', status: 401 },
  );
  await renewing.client.close();
  await fixed.client.close();
});
