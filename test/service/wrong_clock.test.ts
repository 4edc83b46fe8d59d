import { type Test, test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { systemClock } from '../../src/clock/clock.js';
import { FakeClock } from '../clock/fake_clock.js';
import { publisherSigner, startTestService, type TestService, TestSocket } from './harness.js';
import { latestText, latestWhen, openPublisher, refusalOf, UNIT } from './publishing.js';

const MINUTE_MS = 60_000;
const YEAR_MS = 365 * 86_400_000;
/** The clock steps are the only reason for which inputs become too old in these tests. */
const ASSETS = { assets: [{ id: 1, symbol: 'BTCUSD', max_age: '3600s' }] };

for (const [distance, aheadMs] of Object.entries({ 'a minute': MINUTE_MS, 'a year': YEAR_MS }))
  test(`a start with a clock that was ${distance} ahead serves none of its prices, and takes honest ones`, async (t) => {
    const { clock, dir } = workplace(t);
    clock.advanceMs(aheadMs);
    const before = await startTestService(t, ASSETS, { dir, clock });
    await publishOne(t, before, clock, 7n);
    await before.stop();

    clock.advanceMs(-aheadMs);
    const service = await startTestService(t, ASSETS, { dir, clock });
    t.equal(await latestText(service, 'BTCUSD'), '{"data":{}}');
    t.equal(await updatedAtSeconds(service), undefined, 'nothing came for this asset');
    await takesHonestPrices(t, service, clock);
  });

test('a clock that is stepped back takes its prices with it, and honest ones come at once', async (t) => {
  const { clock, dir } = workplace(t);
  const service = await startTestService(t, ASSETS, { dir, clock });
  await publishOne(t, service, clock, 6n);
  clock.advanceMs(MINUTE_MS);
  await publishOne(t, service, clock, 7n);
  clock.advanceMs(-MINUTE_MS);
  await eventually(async () => (await latestText(service, 'BTCUSD')) === '{"data":{}}');
  await takesHonestPrices(t, service, clock);
});

/** Creates a folder for a service, and a clock that follows the system clock. */
function workplace(t: Test): { readonly clock: FakeClock; readonly dir: string } {
  const dir = t.testdir();
  return { clock: new FakeClock(systemClock()), dir };
}

async function publishOne(t: Test, service: TestService, clock: FakeClock, price: bigint): Promise<void> {
  const socket = await openPublisher(service, 'evm', { query: '?ack=durable' });
  const timestampNs = clock.nowNs();
  const update = publisherSigner(1).sign({ symbol: 'BTCUSD', price: price * UNIT, timestampNs });
  t.equal(await refusalOf(socket, update), undefined);
  await latestWhen(service, 'BTCUSD', (found) => found.price === `${price * UNIT}`);
  await socket.close();
}

/** Checks that the service serves honest prices, and reports how it signs them. */
async function takesHonestPrices(t: Test, service: TestService, clock: FakeClock): Promise<void> {
  const stream = await TestSocket.open(`${service.socketUrl}/ws`);
  stream.send({ type: 'subscribe', assets: [1], id: 'x' });
  t.match(await stream.nextJson(), { type: 'subscribe' });
  await publishOne(t, service, clock, 8n);
  t.match(await stream.nextJson(), { a: [{ id: 1, v: `${8n * UNIT}` }] }, 'the first frame');
  await publishOne(t, service, clock, 9n);
  t.match(
    await (await fetch(`${service.adminUrl}/readyz`)).text(),
    /aggregates are signed with times \d+\.\d s ahead of the clock, because the clock was ahead before/,
  );
}

async function updatedAtSeconds({ adminUrl }: TestService): Promise<string | undefined> {
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  return /^tickseal_asset_updated_timestamp_seconds\S* (\S+)/m.exec(metrics)?.[1];
}
