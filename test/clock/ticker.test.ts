import { test } from 'tap';
import { Ticker } from '../../src/clock/ticker.js';

test('a tick that comes while the ticker stops does not start it again', async (t) => {
  let stopped: Promise<void> | undefined;
  await new Promise<void>((resolve) => {
    const ticker = new Ticker(1, () => {
      stopped ??= ticker.stop();
      ticker.setInterval(1);
      resolve();
    });
  });
  await stopped;
  t.pass('its thread has ended');
});

test('no tick comes after stop was called', async (t) => {
  let ticks = 0;
  let ticker: Ticker;
  await new Promise<void>((resolve) => {
    ticker = new Ticker(1, () => {
      ticks++;
      resolve();
    });
  });
  const stopped = ticker!.stop();
  const before = ticks;
  await stopped;
  t.equal(ticks, before);
});
