import { test } from 'tap';
import { systemClock } from '../../src/clock/clock.js';
import { NS_PER_MS, NS_PER_SECOND } from '../../src/model/time.js';
import { FakeClock } from '../clock/fake_clock.js';
import { Feed, units } from '../service/feed.js';
import { startTestService, TestSocket } from '../service/harness.js';
import { latestOf, latestWhen } from '../service/publishing.js';

const HOUR_MS = 3_600_000;
const BEHIND = /aggregates are signed with times 3\d{3}\.\d s ahead .*; streams .* ahead of the clock/;
const STEPS: readonly (readonly [name: string, stepMs: number])[] = [
  ['back an hour', -HOUR_MS],
  ['forward again', HOUR_MS],
  ['a second comes twice, as around a leap second', -1_000],
  ['a second is left out', 1_000],
];

test('the clock steps: ts never falls, signatures never go back, and ticks resume', async (t) => {
  const clock = new FakeClock(systemClock());
  const service = await startTestService(
    { assets: [{ id: 1, symbol: 'BTCUSD', clock_period: '20ms' }] },
    { clock },
  );
  t.teardown(() => service.stop());
  const feed = await Feed.open(service, { nowNs: () => clock.nowNs() });
  let price = 1;
  await feed.accept({ symbol: 'BTCUSD', price: units(price) });
  const open = async (query: string) => {
    const socket = await TestSocket.open(`${service.socketUrl}/ws?${query}`);
    socket.send({ type: 'subscribe', assets: [1] });
    return { query, socket, ts: timestampOf(await socket.next()) };
  };
  const streams = await Promise.all([open('channel=10ms'), open('channel=100ms'), open('')]);
  const signedAt = async () =>
    (await latestOf(service, 'BTCUSD'))['BTCUSD']!.service_signed_price.timestamped_signature.timestamp;
  let lastSigned = await signedAt();

  const readiness = async () => {
    const response = await fetch(`${service.adminUrl}/readyz`);
    return { status: response.status, text: await response.text() };
  };

  for (const [name, stepMs] of STEPS) {
    clock.advanceMs(stepMs);
    // The earlier input is an hour in the future, or too old.
    if (Math.abs(stepMs) === HOUR_MS) {
      await latestGone();
      await feed.accept({ symbol: 'BTCUSD', price: units(price) });
    }
    const newcomer = await open('channel=10ms&message_type=signed_ecdsa');
    const aheadNs = newcomer.ts - clock.nowNs();
    t.ok(aheadNs < NS_PER_MS && aheadNs > -10n * NS_PER_SECOND, `${name}: a new stream has the clock's time`);
    newcomer.socket.ws.close();
    const isBehind = stepMs === -HOUR_MS;
    t.match(
      await readiness(),
      isBehind ? { status: 503, text: BEHIND } : { status: 200 },
      `${name}: /readyz`,
    );
    // Frames that were sent before the step may still arrive. The last of five frames was sent after it.
    for (const stream of streams.slice(0, 2))
      for (let i = 0; i < 5; i++) {
        const ts = timestampOf(await stream.socket.next());
        t.ok(ts > stream.ts, `${name}: ${stream.query} grows`);
        stream.ts = ts;
      }
    const signed = await latestWhen(service, 'BTCUSD', (aggregate) => {
      const { timestamp } = aggregate.service_signed_price.timestamped_signature;
      return timestamp > lastSigned;
    });
    lastSigned = signed.service_signed_price.timestamped_signature.timestamp;
    t.equal(signed.price, `${units(price)}`, `${name}: signed again, with a later time`);
  }

  price = 2;
  await feed.accept({ symbol: 'BTCUSD', price: units(price) });
  const [, , realTime] = streams;
  const ts = timestampOf(await realTime!.socket.next());
  t.ok(ts > realTime!.ts, 'real_time goes on as well');

  clock.advanceMs(HOUR_MS);
  await latestGone();
  await feed.accept({ symbol: 'BTCUSD', price: units(3) });
  const { price: again } = await latestWhen(service, 'BTCUSD');
  t.equal(again, `${units(3)}`, 'an hour later its inputs are too old, and fresh ones count');

  async function latestGone(): Promise<void> {
    while ((await latestOf(service, 'BTCUSD'))['BTCUSD'] !== undefined);
  }
});

function timestampOf(frame: string): bigint {
  const payload = /"p":"0x([0-9a-f]+)"/.exec(frame);
  // The time follows 65 bytes of signature and two bytes of the taxonomy ID.
  if (payload) return BigInt(`0x${payload[1]!.slice(134, 150)}`);
  return BigInt(/"ts":(\d+)/.exec(frame)![1]!);
}
