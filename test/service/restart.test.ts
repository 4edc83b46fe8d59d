import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'tap';
import { type PriceUpdate, verifyAggregate } from '../../src/client/index.js';
import { NS_PER_MS, NS_PER_SECOND } from '../../src/model/time.js';
import { FakeClock } from '../clock/fake_clock.js';
import { get, publisherSigner, startTestService, type TestService } from './harness.js';
import { altered, latestOf, latestText, latestWhen, openPublisher, refusalOf, UNIT } from './publishing.js';

/** Returns assets whose aggregates are signed only after a change. */
function assetsOf(maxAge: string) {
  const asset = { max_age: maxAge, clock_period: '24h' };
  return [
    { ...asset, id: 1, symbol: 'BTCUSD' },
    { ...asset, id: 2, symbol: 'DYDXUSD', signature_type: 'stark' },
  ];
}

test('a restart on the same folder goes on where the service stopped', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-restart-'));
  const clock = new FakeClock();
  const startS = Number(clock.nowNs() / NS_PER_SECOND);
  let service = await start('600s');
  t.teardown(async () => {
    await service.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  function start(maxAge: string): Promise<TestService> {
    return startTestService({ assets: assetsOf(maxAge) }, { dir, clock });
  }
  const atS = (offsetS: number) =>
    clock.advanceMs((startS + offsetS) * 1_000 - Number(clock.nowNs() / NS_PER_MS));
  /** Publishes a price. Waits until the price is on disk and its aggregate is signed. */
  const publishDurably = async (price: bigint) => {
    const update = publisherSigner(1).sign({ symbol: 'BTCUSD', price, timestampNs: clock.nowNs() });
    const socket = await openPublisher(service, 'evm', { query: '?ack=durable' });
    t.equal(await refusalOf(socket, update), undefined);
    await latestWhen(service, 'BTCUSD', (found) => found.price === `${price}`);
    await socket.close();
    return update;
  };
  const recent = async (offsetS: number) => {
    const answer = await get(`${service.url}/v1/prices/recent?assets=BTCUSD&timestamp=${startS + offsetS}`);
    return { status: answer.status, text: await answer.text() };
  };
  const history = async (resolution: string) => {
    const range = `from=${startS - 86_400}&to=${startS + 3600}`;
    const url = `${service.url}/v1/tradingview/history?symbol=BTCUSD&resolution=${resolution}&${range}`;
    return ((await (await get(url)).json()) as { data: Record<string, number[]> }).data;
  };

  const script = [
    [0, 100n],
    [10, 105n],
    [20, 95n],
    [65, 97n],
    [180, 110n],
  ] as const;
  const published: PriceUpdate[] = [];
  for (const [offsetS, price] of script) {
    atS(offsetS);
    published.push(await publishDurably(price * UNIT));
  }
  const starkSocket = await openPublisher(service, 'stark', { query: '?ack=durable' });
  const starkUpdate = publisherSigner(1, 'stark').sign({
    symbol: 'DYDXUSD',
    price: 3n * UNIT,
    timestampNs: clock.nowNs(),
  });
  t.equal(await refusalOf(starkSocket, starkUpdate), undefined);
  await latestWhen(service, 'DYDXUSD');
  atS(190);

  const minutes = {
    t: [startS, startS + 60, startS + 180],
    o: [100, 97, 110],
    h: [105, 97, 110],
    l: [95, 97, 110],
    c: [95, 97, 110],
  };
  const secondsAsked = [0, 5, 10, 15, 59, 65, 150, 180, 185];
  const before = {
    latest: await latestOf(service, 'BTCUSD', 'DYDXUSD'),
    recent: await Promise.all(secondsAsked.map(recent)),
  };
  t.same(await history('1'), minutes);
  await service.stop();
  service = await start('600s');

  await t.test('what was signed is as it was', async (t) => {
    t.same(await Promise.all(secondsAsked.map(recent)), before.recent, 'recent, byte by byte');
    t.equal(before.recent[1]!.text.includes(`"price":"${100n * UNIT}"`), true);
    t.same(await history('1'), minutes);
    t.same(await history('5'), { t: [startS], o: [100], h: [110], l: [95], c: [110] });
    const latest = await latestOf(service, 'BTCUSD', 'DYDXUSD');
    for (const symbol of ['BTCUSD', 'DYDXUSD']) {
      t.equal(latest[symbol]?.price, before.latest[symbol]!.price);
      t.same(latest[symbol]?.signed_prices, before.latest[symbol]!.signed_prices);
    }
    for (const { verdict } of verifyAggregate(await latestText(service, 'BTCUSD', 'DYDXUSD'), {
      signers: 'unchecked',
      oracleId: 'servc',
    }))
      t.equal(verdict, 'recovered');
  });

  await t.test('what was accepted is still known', async (t) => {
    const socket = await openPublisher(service);
    const last = published.at(-1)!;
    const { timestamp } = last.signed_price.timestamped_signature;
    t.match(await refusalOf(socket, last), /not newer/);
    t.equal(await refusalOf(socket, altered(last, { timestamp: timestamp + 1n })), undefined, 'a refresh');
    const late = publisherSigner(1).sign({
      symbol: 'BTCUSD',
      price: 110n * UNIT,
      timestampNs: timestamp - 1n,
    });
    t.equal(await refusalOf(socket, late), undefined, 'one that was not sent before');
    t.match(await refusalOf(socket, late), /replay/);
    await socket.close();
  });

  await t.test('the running candle goes on', async (t) => {
    atS(200);
    await publishDurably(120n * UNIT);
    t.same(await history('1'), { ...minutes, h: [105, 97, 120], c: [95, 97, 120] });
    t.match(await recent(195), { status: 200, text: /"price":"110000000000000000000"/ });
  });

  await t.test('a price that ran out while nobody was there ended in time', async (t) => {
    await service.stop();
    atS(300);
    service = await start('60s');
    t.equal(await latestText(service, 'BTCUSD', 'DYDXUSD'), '{"data":{}}');
    t.match(await recent(255), { status: 200, text: /"price":"120000000000000000000"/ });
    t.equal((await recent(265)).status, 404);
    t.equal((await recent(299)).status, 404);
    t.match(await history('D'), { o: [100], h: [120], l: [95], c: [120] });
    await publishDurably(130n * UNIT);
    t.match((await latestOf(service, 'BTCUSD'))['BTCUSD'], { trigger: 'delta' });
  });
});
