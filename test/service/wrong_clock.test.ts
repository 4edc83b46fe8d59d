import { type Test, test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { systemClock } from '../../src/clock/clock.js';
import { FakeClock } from '../clock/fake_clock.js';
import { Feed, units } from './feed.js';
import { startTestService, type TestService, TestSocket } from './harness.js';
import { latestText, latestWhen } from './publishing.js';

const MINUTE_MS = 60_000;
const YEAR_MS = 365 * 86_400_000;
/** The clock steps are the only reason for which inputs become too old in these tests. */
const ASSETS = { assets: [{ id: 1, symbol: 'BTCUSD', max_age: '3600s' }] };

for (const [distance, aheadMs] of Object.entries({ 'a minute': MINUTE_MS, 'a year': YEAR_MS }))
  test(`a start with a clock that was ${distance} ahead serves none of its prices, and takes honest ones`, async (t) => {
    const dir = t.testdir();
    const clock = new FakeClock(systemClock());
    clock.advanceMs(aheadMs);
    const before = await startTestService(t, ASSETS, { dir, clock });
    await publishOne(before, clock, 7);
    await before.stop();

    clock.advanceMs(-aheadMs);
    const service = await startTestService(t, ASSETS, { dir, clock });
    t.equal(await latestText(service, 'BTCUSD'), '{"data":{}}');
    const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
    t.notMatch(metrics, 'tickseal_asset_last_update_timestamp_seconds{', 'nothing came for this asset');
    await takesHonestPrices(t, service, clock);
  });

test('a clock that is stepped back takes its prices with it, and honest ones come at once', async (t) => {
  const dir = t.testdir();
  const clock = new FakeClock(systemClock());
  const service = await startTestService(t, ASSETS, { dir, clock });
  await publishOne(service, clock, 6);
  clock.advanceMs(MINUTE_MS);
  await publishOne(service, clock, 7);
  clock.advanceMs(-MINUTE_MS);
  await eventually(async () => (await latestText(service, 'BTCUSD')) === '{"data":{}}');
  await takesHonestPrices(t, service, clock);
});

async function publishOne(service: TestService, clock: FakeClock, price: number): Promise<void> {
  const feed = await Feed.open(service, { ack: 'durable', nowNs: () => clock.nowNs() });
  await feed.accept({ symbol: 'BTCUSD', price: units(price) });
  await latestWhen(service, 'BTCUSD', (found) => found.price === `${units(price)}`);
  await feed.socket.close();
}

/** Checks that the service serves honest prices, and reports how it signs them. */
async function takesHonestPrices(t: Test, service: TestService, clock: FakeClock): Promise<void> {
  const stream = await TestSocket.open(`${service.socketUrl}/ws`);
  stream.send({ type: 'subscribe', assets: [1], id: 'x' });
  t.match(await stream.nextJson(), { type: 'subscribe' });
  await publishOne(service, clock, 8);
  t.match(await stream.nextJson(), { a: [{ id: 1, v: `${units(8)}` }] }, 'the first frame');
  await publishOne(service, clock, 9);
  t.match(
    await (await fetch(`${service.adminUrl}/readyz`)).text(),
    /aggregates are signed with times \d+\.\d s ahead of the clock, because the clock was ahead before/,
  );
}
