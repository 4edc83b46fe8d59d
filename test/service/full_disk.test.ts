import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { type Test, test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { systemClock } from '../../src/clock/clock.js';
import { FakeClock } from '../clock/fake_clock.js';
import { publisherSigner, startTestService } from './harness.js';
import { latestText, latestWhen, openPublisher, publish, UNIT } from './publishing.js';

/** Makes every file system of this process look full, until the returned function is called. */
function fillDisks(t: Test): () => void {
  const { statfsSync } = fs;
  const restore = () => {
    fs.statfsSync = statfsSync;
    syncBuiltinESMExports();
  };
  t.teardown(restore);
  fs.statfsSync = ((...args: Parameters<typeof statfsSync>) =>
    Object.assign(statfsSync(...args), { bavail: 0, bfree: 0 })) as typeof statfsSync;
  syncBuiltinESMExports();
  return restore;
}

test('while the disk is full, no aggregate is served whose inputs no longer count', async (t) => {
  const clock = new FakeClock(systemClock());
  const assets = [
    { id: 1, symbol: 'BTCUSD', max_age: '10s' },
    { id: 2, symbol: 'ETHUSD', max_age: '10s', clock_period: '24h', delta_percent: 50 },
  ];
  const service = await startTestService(t, { assets }, { clock });
  const socket = await openPublisher(service);
  const send = async (price: bigint) => {
    const timestampNs = clock.nowNs();
    for (const symbol of ['BTCUSD', 'ETHUSD'])
      await publish(socket, [publisherSigner(1).sign({ symbol, price, timestampNs })]);
  };
  await send(UNIT);
  await latestWhen(service, 'BTCUSD');
  await latestWhen(service, 'ETHUSD');
  const isReady = async () => (await fetch(`${service.adminUrl}/readyz`)).status === 200;

  const free = fillDisks(t);
  await eventually(async () => {
    clock.advanceMs(1_000);
    await send(2n * UNIT);
    return (await isReady()) ? undefined : true;
  });
  await eventually(async () => {
    clock.advanceMs(2_000);
    await send(2n * UNIT);
    return (await latestText(service, 'BTCUSD')) === '{"data":{}}' ? true : undefined;
  });
  t.not(await latestText(service, 'ETHUSD'), '{"data":{}}', 'no newer aggregate was due');

  free();
  await eventually(async () => {
    clock.advanceMs(1_000);
    await send(2n * UNIT);
    return (await isReady()) ? true : undefined;
  });
  await eventually(async () => {
    await send(2n * UNIT);
    return (await latestText(service, 'BTCUSD')).includes(`"price":"${2n * UNIT}"`) ? true : undefined;
  });
});
