import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import type { SignatureType } from '../../src/model/asset.js';
import { FakeClock } from '../clock/fake_clock.js';
import { START_NS } from '../model/sample.js';
import { Feed, units } from './feed.js';
import { get, type Sections, startTestService, type TestService, TestSocket } from './harness.js';

// Tests of two assets of the symbol BTCUSD, which have EVM publishers and Stark publishers.

const START_S = Number(START_NS / 1_000_000_000n);
const asset = { clock_period: '24h', delta_percent: 0.000001 };
const EVM = { ...asset, id: 1, symbol: 'BTCUSD' };
const STARK = { ...asset, id: 2, symbol: 'BTCUSD', signature_type: 'stark', calendar: 'us_equities' };
const OTHERS = [
  { ...asset, id: 3, symbol: 'ETHUSD' },
  { ...asset, id: 4, symbol: 'DYDXUSD', signature_type: 'stark' },
];
const BOTH: Sections = { assets: [STARK, EVM, ...OTHERS] };

/** Sends a request to REST. Returns the text, and its `data` or `error`. */
async function ask(service: TestService, path: string) {
  const response = await get(`${service.url}${path}`);
  const text = await response.text();
  return { status: response.status, text, ...(JSON.parse(text) as { data?: unknown; error?: string }) };
}

interface Both {
  readonly service: TestService;
  readonly clock: FakeClock;
  /** Publishes a price and waits until the service serves it. */
  price(type: SignatureType, symbol: string, count: number): Promise<void>;
}

/** Starts a service with a publisher connection of each type. */
async function start(
  t: Test,
  options: { sections?: Sections; dir?: string; clock?: FakeClock } = {},
): Promise<Both> {
  const { sections = BOTH, clock = new FakeClock(), dir } = options;
  const service = await startTestService(sections, { clock, ...(dir !== undefined && { dir }) });
  t.teardown(() => service.stop());
  const nowNs = () => clock.nowNs();
  const feeds = {
    evm: await Feed.open(service, { nowNs, ack: 'durable' }),
    stark: await Feed.open(service, { type: 'stark', nowNs, ack: 'durable' }),
  };
  return {
    service,
    clock,
    async price(type, symbol, count) {
      await feeds[type].accept({ symbol, price: units(count) });
      await eventually(async () => (await servedAs(service, type, symbol)) === count);
    },
  };
}

/** Returns the price in whole units that `latest` serves. If the price has a wrong type, returns the name of the type. */
async function servedAs(service: TestService, type: string | undefined, symbol: string) {
  const query = type === undefined ? '' : `&signature_type=${type}`;
  const { data } = await ask(service, `/v1/prices/latest?assets=${symbol}${query}`);
  const aggregate = (data as Record<string, { price: string; signature_type: string }> | undefined)?.[symbol];
  if (aggregate === undefined) return undefined;
  if (type !== undefined && aggregate.signature_type !== type) return aggregate.signature_type;
  return Number(BigInt(aggregate.price) / units(1));
}

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
