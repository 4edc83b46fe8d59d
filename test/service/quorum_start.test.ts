import { test } from 'tap';
import { createClient } from '../../src/client/node_index.js';
import { Feed, units } from './feed.js';
import { startTestService, TOKEN } from './harness.js';
import { openSilentRelay } from './silent_relay.js';

const ROUNDS = 5;

test('an operator that accepts connections and never answers delays no price of the others', async (t) => {
  const services = await Promise.all(
    [0, 1, 2].map((n) =>
      startTestService(
        { service: { taxonomy_id: 10 + n }, assets: [{ id: n + 1, symbol: 'BTCUSD' }] },
        { keys: { evm: Buffer.alloc(32, 0x21 + n), stark: Buffer.alloc(32, 1) } },
      ),
    ),
  );
  for (const service of services) t.teardown(() => service.stop());
  const feeds = await Promise.all(services.map((service) => Feed.open(service)));
  const publish = () =>
    Promise.all(feeds.map((feed) => feed.accept({ symbol: 'BTCUSD', price: units(95_000) })));
  await publish();
  const timer = setInterval(() => void publish().catch(() => undefined), 300);
  t.teardown(() => clearInterval(timer));
  const relay = await openSilentRelay(services[2]!.port);
  t.teardown(() => relay.close());
  relay.deafen();
  const operators = services.map(({ url, evmAddress }, n) => ({
    name: 'abc'[n]!,
    urls: n === 2 ? `http://127.0.0.1:${relay.port}` : url,
    signers: [evmAddress],
    token: TOKEN,
  }));
  const timesMs: { stream: number[]; latest: number[] } = { stream: [], latest: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    const client = createClient({ quorum: { operators } });
    const startMs = performance.now();
    const { value: tick } = await client.stream(['BTCUSD']).next();
    timesMs.stream.push(Math.round(performance.now() - startMs));
    t.match(tick, { verdict: 'verified 2 of 3', operators: [{}, {}, { operator: 'c', verdict: 'silent' }] });
    const askedMs = performance.now();
    const prices = await client.latest(['BTCUSD']);
    timesMs.latest.push(Math.round(performance.now() - askedMs));
    t.match(prices['BTCUSD'], {
      verdict: 'verified 2 of 3',
      operators: [{}, {}, { reason: /not answered yet/ }],
    });
    await client.close();
  }
  t.comment(
    `first price after ${timesMs.stream.join(', ')} ms; latest after ${timesMs.latest.join(', ')} ms`,
  );
});
