import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { FakeClock } from '../clock/fake_clock.js';
import { Feed, units } from './feed.js';
import { type Sections, TestSocket } from './harness.js';
import { ask, BOTH, EVM, OTHERS, STARK, START_S, servedAs, start } from './two_types.js';

// Tests of the answers and messages for a symbol with both signature types.

test('after a restart both are back, and nothing is mixed', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-types-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  const clock = new FakeClock();
  const first = await start(t, { dir, clock });
  await first.price('evm', 'BTCUSD', 10);
  await first.price('stark', 'BTCUSD', 20);
  clock.advance(10_000_000_000n);
  await first.price('stark', 'BTCUSD', 21);
  await first.service.stop();

  const { service, price } = await start(t, { dir, clock });
  await eventually(async () => (await servedAs(service, 'evm', 'BTCUSD')) === 10);
  await eventually(async () => (await servedAs(service, 'stark', 'BTCUSD')) === 21);
  const recent = async (type: string) => {
    const query = `timestamp=${START_S}&assets=BTCUSD&signature_type=${type}`;
    return (await ask(service, `/v1/prices/recent?${query}`)).data;
  };
  t.match(await recent('evm'), { BTCUSD: { price: String(units(10)) } });
  t.match(await recent('stark'), { BTCUSD: { price: String(units(20)) } });
  const candles = async (type: string) => {
    const query = `symbol=BTCUSD&resolution=1&from=${START_S}&to=${START_S + 60}&signature_type=${type}`;
    return (await ask(service, `/v1/tradingview/history?${query}`)).data;
  };
  t.match(await candles('evm'), { o: [10], c: [10] });
  t.match(await candles('stark'), { o: [20], c: [21] });
  clock.advance(1_000_000_000n);
  await price('stark', 'BTCUSD', 22);
  t.match(await candles('evm'), { o: [10], c: [10] });
  t.match(await candles('stark'), { o: [20], c: [22] });
});

test('one of the two comes and goes while the service runs', async (t) => {
  const alone = (one: object): Sections => ({ assets: [one, ...OTHERS] });
  const { service, clock, price } = await start(t, { sections: alone(STARK) });
  const candles = async (query = '') => {
    const path = `/v1/tradingview/history?symbol=BTCUSD&resolution=1D&from=0&to=99999999999${query}`;
    return ((await ask(service, path)).data as { c: number[] } | undefined)?.c;
  };
  await price('stark', 'BTCUSD', 20);
  t.equal(await servedAs(service, undefined, 'BTCUSD'), 20, 'the only one needs no parameter');
  const stream = await TestSocket.open(`${service.socketUrl}/ws`);
  stream.send({ type: 'subscribe', assets: [2] });
  const value = async () => ((await stream.nextJson())['a'] as { id: number; v: string }[])[0];
  t.same(await value(), { id: 2, v: String(units(20)) });

  service.reconfigure(BOTH);
  t.equal(
    await servedAs(service, undefined, 'BTCUSD'),
    undefined,
    'now the EVM one is meant, which has no price',
  );
  t.equal(await servedAs(service, 'stark', 'BTCUSD'), 20);
  t.same(await candles(), []);
  await price('evm', 'BTCUSD', 10);
  t.same(await candles(), [10]);
  t.same(await candles('&signature_type=stark'), [20]);
  clock.advance(1_000_000n);
  await price('stark', 'BTCUSD', 21);
  t.same(await value(), { id: 2, v: String(units(21)) }, 'a subscription goes on');

  service.reconfigure(alone(EVM));
  t.equal(await servedAs(service, undefined, 'BTCUSD'), 10);
  t.match(await ask(service, '/v1/prices/latest?assets=BTCUSD&signature_type=stark'), { status: 400 });
  const stark = await Feed.open(service, { type: 'stark', nowNs: () => clock.nowNs() + 1n });
  t.match(await stark.publish({ symbol: 'BTCUSD', price: units(22) }), {
    rejected: { BTCUSD: 'this asset takes evm signatures' },
  });

  service.reconfigure(BOTH);
  t.equal(await servedAs(service, 'stark', 'BTCUSD'), undefined, 'what was gone needs a fresh price');
  t.equal(await servedAs(service, 'evm', 'BTCUSD'), 10);
  t.same(await candles('&signature_type=stark'), [21], 'its candles are back');
  clock.advance(1_000_000n);
  await price('stark', 'BTCUSD', 23);
  t.same(await candles(), [10]);
});
