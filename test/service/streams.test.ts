import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { parseFrame, type UnsignedFrame, verifyPayload } from '../../src/client/index.js';
import { CHANNEL_INTERVALS_MS } from '../../src/wire/stream.js';
import { FakeClock } from '../clock/fake_clock.js';
import { Feed, units } from './feed.js';
import { startTestService, TestSocket } from './harness.js';

// Tests of the frames of `/ws` on a running service. test/stream tests what goes into a frame and when.

const NS_PER_MS = 1_000_000n;
const THREE_ASSETS = [
  { id: 500, symbol: 'BTCUSD' },
  { id: 7, symbol: 'ETHUSD' },
  { id: 65_535, symbol: 'FUNDING' },
];

function unsigned(text: string): UnsignedFrame {
  const frame = parseFrame(text);
  if (frame?.type !== 'unsigned') throw new Error(`no unsigned frame: ${text}`);
  return frame;
}

test('every fixed channel sends all live assets once a multiple of its interval', async (t) => {
  const service = await startTestService({ assets: [...THREE_ASSETS, { id: 8, symbol: 'SILENT' }] });
  t.teardown(() => service.stop());
  const feed = await Feed.open(service);
  await feed.accept(
    { symbol: 'BTCUSD', price: units(65_000) },
    { symbol: 'ETHUSD', price: units(0) },
    { symbol: 'FUNDING', price: units(-1) },
  );
  const v = (count: number) => String(units(count));
  await Promise.all(
    Object.entries(CHANNEL_INTERVALS_MS).map(async ([channel, intervalMs]) => {
      if (intervalMs === undefined) return;
      const intervalNs = BigInt(intervalMs) * NS_PER_MS;
      const socket = await TestSocket.open(`${service.socketUrl}/ws?channel=${channel}`);
      socket.send({ type: 'subscribe', assets: [65_535, 8, 500, 7] });
      const frames: UnsignedFrame[] = [];
      while (frames.length < Math.max(2, Math.min(20, 1_000 / intervalMs))) {
        const text = await socket.next();
        frames.push(unsigned(text));
        t.match(
          JSON.parse(text).a,
          [
            { id: 7, v: v(0) },
            { id: 500, v: v(65_000) },
            { id: 65_535, v: v(-1) },
          ],
          `${channel}: ascending by ID, none for the silent one`,
        );
      }
      const ticks = frames.map(({ timestampNs }) => timestampNs / intervalNs);
      t.ok(
        ticks.every((tick, i) => i === 0 || tick > ticks[i - 1]!),
        `${channel}: one frame a tick`,
      );
      const lateNs = frames.map(({ timestampNs }) => timestampNs % intervalNs).sort((a, b) => Number(a - b));
      // The delay and the loss of ticks depend on the machine, so this test does not check them. The row "ticks" of the bench
      // measures them.
      t.ok(lateNs[0]! < intervalNs / 2n, `${channel}: after a multiple of its interval, ${lateNs}`);
      await socket.close();
    }),
  );
});

test('payloads verify, simplified and versioned, and both types say the same', async (t) => {
  const clock = new FakeClock();
  const calendar = {
    time_zone: 'UTC',
    sessions: [{ days: ['mon'], from: '12:00', to: '15:00', status: 'after_hours' }],
  };
  const service = await startTestService(
    {
      service: { taxonomy_id: 65_281 },
      assets: [
        { id: 3, symbol: 'BTCUSD' },
        { id: 4, symbol: 'AAPL', calendar: 'us_equities' },
        { id: 5, symbol: 'OWN', calendar: 'own' },
      ],
      calendars: { own: calendar },
    },
    { clock },
  );
  t.teardown(() => service.stop());
  const feed = await Feed.open(service, { nowNs: () => clock.nowNs() });
  const open = async (query: string) => {
    const socket = await TestSocket.open(`${service.socketUrl}/ws?${query}`);
    socket.send({ type: 'subscribe', assets: [3, 4, 5], id: 0 });
    await socket.next();
    return socket;
  };
  const plain = await open('message_type=signed_ecdsa');
  await t.rejects(open('channel=1h'), /^400 .*channel/);
  const versioned = await open('message_type=signed_ecdsa&addtl_attrs=ms');
  const text = await open('message_type=unsigned&addtl_attrs=ms');
  const expected = { signers: [service.evmAddress], taxonomyId: 65_281 };
  const verify = async (socket: TestSocket) => {
    const { p, ...rest } = (await socket.nextJson()) as { p: string };
    t.same(rest, { type: 'signed_ecdsa' });
    t.match(p, /^0x[0-9a-f]+$/);
    return verifyPayload(p, expected);
  };
  const prices = [units(-7), units(2), 2n ** 127n - 1n] as const;
  await feed.accept(
    ...['BTCUSD', 'AAPL', 'OWN'].map((symbol, i) => ({ symbol, price: prices[i]! as (typeof prices)[0] })),
  );
  const assets = prices.map((value, i) => ({ id: 3 + i, value }));
  // The FakeClock starts at 9:00 in New York, in the session before regular hours.
  const withStatus = assets.map((asset, i) => ({ ...asset, marketStatus: [null, 2, 3][i] }));
  const timestampNs = clock.nowNs();
  const reports = [await verify(plain), await verify(versioned)];
  t.match(reports, [
    { verdict: 'verified', payload: { layout: 'simplified', assets } },
    { verdict: 'verified', payload: { layout: 'versioned', assets: withStatus } },
  ]);
  // Two payloads never have the same time. Each payload is at least 4 µs later than the payload before.
  const [plainNs, versionedNs] = reports.map(({ payload }) => payload!.timestampNs - timestampNs);
  t.ok(plainNs !== versionedNs);
  for (const laterNs of [plainNs!, versionedNs!])
    t.ok(laterNs >= 0n && laterNs < 100_000n, `${laterNs} ns later`);
  t.same((await text.nextJson())['a'], [
    { id: 3, v: String(prices[0]) },
    { id: 4, v: String(prices[1]), ms: 2 },
    { id: 5, v: String(prices[2]), ms: 3 },
  ]);

  clock.advance(30n * 60n * 1_000n * NS_PER_MS);
  await eventually(async () => (await feed.publish({ symbol: 'AAPL', price: units(3) }))['accepted']);
  t.same((await text.nextJson())['a'], [{ id: 4, v: String(units(3)), ms: 1 }], 'the bell has rung');
  t.match(await verify(versioned), {
    verdict: 'verified',
    payload: { assets: [{ id: 4, marketStatus: 1 }] },
  });
});
