import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { systemClock } from '../../src/clock/clock.js';
import { FakeClock } from '../clock/fake_clock.js';
import { get, publisherSigner, startTestService, TestSocket } from './harness.js';
import { latestOf, latestText, latestWhen, openPublisher, publish, UNIT } from './publishing.js';

test('a price ends with its inputs and comes back with fresh ones', async (t) => {
  const clock = new FakeClock(systemClock());
  const service = await startTestService(
    {
      assets: [
        { id: 1, symbol: 'BTCUSD', max_age: '60s', min_publishers: 2, clock_period: '24h' },
        { id: 2, symbol: 'ETHUSD', max_age: '3600s', clock_period: '24h' },
      ],
      ingest: { max_past: '60s', max_future: '2s' },
    },
    { clock },
  );
  t.teardown(() => service.stop());
  const socket = await openPublisher(service);
  const send = (n: number, symbol: string, price: bigint, agoMs = 0) => {
    const timestampNs = clock.nowNs() - BigInt(agoMs) * 1_000_000n;
    return publish(socket, [publisherSigner(n).sign({ symbol, price, timestampNs })]);
  };
  const streams = await Promise.all(
    ['real_time', '10ms'].map(async (channel) => {
      const stream = await TestSocket.open(`${service.socketUrl}/ws?channel=${channel}`);
      stream.send({ type: 'subscribe', assets: [1, 2], id: channel });
      t.match(await stream.nextJson(), { type: 'subscribe', assets: [1, 2] });
      return stream;
    }),
  );
  /** Returns the next frame with these IDs, and drops all frames before it. */
  const frameWith = async (stream: TestSocket, ids: readonly number[]) => {
    while (true) {
      const { a } = (await stream.nextJson()) as { a: { id: number; v: string }[] };
      if (`${a.map(({ id }) => id)}` === `${ids}`) return a;
    }
  };
  const endedSoFar = async () => {
    const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
    return Number(/^tickseal_\w*ended\w* (\d+)/m.exec(metrics)?.[1]);
  };

  t.equal(await latestText(service, 'BTCUSD', 'ETHUSD'), '{"data":{}}', 'no price before the first');
  await send(1, 'BTCUSD', 10n * UNIT, 30_000);
  await send(1, 'ETHUSD', UNIT);
  await latestWhen(service, 'ETHUSD');
  t.same(Object.keys(await latestOf(service, 'BTCUSD', 'ETHUSD')), ['ETHUSD'], 'one of two publishers');
  await send(2, 'BTCUSD', 20n * UNIT);
  t.match(await latestWhen(service, 'BTCUSD'), { price: `${15n * UNIT}`, trigger: 'delta' });
  await frameWith(streams[1]!, [1, 2]);
  t.equal(await endedSoFar(), 0);

  await t.test('when too few inputs are left', async (t) => {
    clock.advanceMs(31_000);
    await eventually(async () =>
      (await latestText(service, 'BTCUSD')) === '{"data":{}}' ? true : undefined,
    );
    t.same(Object.keys(await latestOf(service, 'BTCUSD', 'ETHUSD')), ['ETHUSD'], 'others are not touched');
    t.match(await frameWith(streams[1]!, [2]), [{ id: 2, v: `${UNIT}` }]);
    t.equal(await endedSoFar(), 1);
    const second = Math.floor(Number(clock.nowNs() / 1_000_000_000n));
    const recent = await get(`${service.url}/v1/prices/recent?assets=BTCUSD&timestamp=${second}`);
    t.equal(recent.status, 404, 'nor is there a price at this second');
  });

  await t.test('it comes back as a first price', async (t) => {
    await send(1, 'BTCUSD', 20n * UNIT);
    const [aggregate, a] = await Promise.all([
      latestWhen(service, 'BTCUSD'),
      frameWith(streams[1]!, [1, 2]),
      eventually(async () => (await frameWith(streams[0]!, [1])).find(({ v }) => v === `${20n * UNIT}`)),
    ]);
    t.match(aggregate, { price: `${20n * UNIT}`, trigger: 'delta' });
    t.equal(aggregate.signed_prices.length, 2);
    t.equal(a[0]!.v, `${20n * UNIT}`);
  });

  await t.test('an input older than max_age is accepted and does not count', async (t) => {
    clock.advanceMs(120_000);
    await eventually(async () =>
      (await latestText(service, 'BTCUSD')) === '{"data":{}}' ? true : undefined,
    );
    const { accepted } = await send(1, 'BTCUSD', 30n * UNIT, 58_000);
    t.same(accepted, ['BTCUSD']);
    clock.advanceMs(2_100);
    await send(2, 'BTCUSD', 40n * UNIT);
    t.equal(await latestText(service, 'BTCUSD'), '{"data":{}}');
    await send(3, 'BTCUSD', 50n * UNIT);
    t.equal((await latestWhen(service, 'BTCUSD')).price, `${45n * UNIT}`);
  });
});
