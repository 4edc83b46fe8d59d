import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { fileSchema } from '../../src/config/schema.js';
import { FakeClock } from '../clock/fake_clock.js';
import { ROOT } from '../pages.js';
import { Feed, units } from '../service/feed.js';
import { ask, type Sections, startTestService, TestSocket, testConfig } from '../service/harness.js';
import { latestWhen } from '../service/publishing.js';

// Tests the limits that no other test has, on a whole service, at the limit and one above it. The fake clock does not move by itself,
// so no second ends during a test.

/** The result of an attempt that is not refused. */
const WORKS = 'works';

/** The limits that this file tests. */
const TESTED_HERE = ['candles_per_request', 'stream_connections', 'connections_per_token'];

/** The tests of the other limits: over a service, or of the room that has the limit. */
const TESTED_BY: Readonly<Record<string, string>> = {
  subscriptions_per_connection: 'stream/engine',
  subscription_changes_per_second: 'stream/engine',
  updates_per_message: 'prices/message',
  publish_bytes_per_second: 'fire/flood',
  trace_id_characters: 'prices/message',
  publish_message_bytes: 'server/connections/publish_endpoint',
  connections_per_address: 'server/access/address_connections',
  assets_per_request: 'service/charts',
  client_message_bytes: 'fire/frames',
  control_messages_per_second: 'fire/control_frames',
  bad_messages_per_second: 'fire/flood',
  bad_signatures_per_second: 'fire/flood',
  failed_logins_per_minute: 'service/logins',
  refused_requests_per_minute: 'fire/refused_requests',
  publish_connections_per_token: 'service/logins',
  slow_consumer: 'stream/slow_readers',
  idle_timeout: 'fire/trickle',
  drain: 'service/process.whole',
  signed_frames_per_second: 'stream/signed_delivery',
  delta_aggregates_per_second: 'prices/books/delta_pace',
  range_rows: 'service/sdk',
  range_rows_per_second: 'server/routes/range_route',
};

test('every limit of the configuration has a test', async (t) => {
  const keys = Object.keys(fileSchema.parse(JSON.parse(testConfig(t.testdir()))).limits);
  t.same(keys.sort(), [...TESTED_HERE, ...Object.keys(TESTED_BY)].sort());
  for (const file of Object.values(TESTED_BY)) t.ok(existsSync(join(ROOT, `test/${file}.test.ts`)), file);
});

async function start(t: Test, sections: Sections) {
  const clock = new FakeClock();
  return { clock, ...(await startTestService(t, sections, { clock })) };
}

test('candles_per_request: 3 work, 4 are refused', async (t) => {
  const service = await start(t, {
    assets: [{ id: 0, symbol: 'ASSET0', max_age: '1s', clock_period: '86400s', delta_percent: 0.000001 }],
    limits: { candles_per_request: 3 },
  });
  const feed = await Feed.open(service, { nowNs: () => service.clock.nowNs() });
  const answers: string[] = [];
  for (let n = 1; n <= 4; n++) {
    service.clock.advanceMs(60_000);
    await feed.accept({ symbol: 'ASSET0', price: units(n) });
    await latestWhen(service, 'ASSET0', ({ price }) => price === String(units(n)));
    const query = 'symbol=ASSET0&resolution=1&from=0&to=9999999999';
    const { status, error } = await ask(service, `/v1/tradingview/history?${query}`);
    answers.push(status === 200 ? WORKS : `${status} ${error}`);
  }
  t.match(answers, [WORKS, WORKS, WORKS, /^400 .*candles_per_request \(3\)/]);
});

for (const [name, status, paths] of [
  ['stream_connections', 503, ['/ws']],
  ['connections_per_token', 429, ['/ws', '/evm/publish', '/stark/publish']],
] as const)
  test(`${name}: 3 work, the 4th is refused until one is closed`, async (t) => {
    const { socketUrl } = await start(t, { limits: { [name]: 3 } });
    const open = (n: number) => TestSocket.open(socketUrl + paths[n % paths.length]);
    const sockets = await Promise.all([0, 1, 2].map(open));
    await t.rejects(open(3), { message: new RegExp(`^${status} .*${name} \\(3\\)`) });
    await sockets[0]!.close();
    await open(3);
  });
