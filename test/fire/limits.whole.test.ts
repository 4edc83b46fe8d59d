import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { publishMessage } from '../../src/client/index.js';
import { fileSchema } from '../../src/config/schema.js';
import { FakeClock } from '../clock/fake_clock.js';
import { ROOT } from '../pages.js';
import { Feed, units } from '../service/feed.js';
import {
  get,
  type Sections,
  startTestService,
  type TestService,
  TestSocket,
  testConfig,
} from '../service/harness.js';
import { latestWhen } from '../service/publishing.js';

// Tests limits on a whole service, at the limit and one above it, where no other test does. Limits have their default, unless `limits` sets another
// value. The fake clock does not move, so no second ends during a test.

/** A service with a clock that the test moves. */
type Stage = TestService & { readonly clock: FakeClock };

/** The result of an attempt that is not refused. */
const WORKS = 'works';

/** The number of assets. The number is one above the limit of subscriptions of a connection, and of updates in a message. */
const ASSETS_MAX = 1_001;

interface Limit {
  /** The key under `limits`. */
  readonly name: string;
  readonly at: number;
  readonly sections?: Sections;
  /** Makes `count` attempts on a fresh service. @returns {@link WORKS}, or the text of the refusal */
  readonly attempt: (stage: Stage, count: number) => Promise<string>;
  /** The answer when the limit is exceeded by one. */
  readonly refusal: RegExp;
}

const ASSETS = symbols(ASSETS_MAX).map((symbol, id) => ({ id, symbol }));

/** The tests of the other keys: over a service, or of the room that has the limit. */
const TESTED_BY: Readonly<Record<string, string>> = {
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

const LIMITS: readonly Limit[] = [
  {
    name: 'candles_per_request',
    at: 3,
    sections: {
      assets: [{ id: 0, symbol: 'ASSET0', max_age: '1s', clock_period: '86400s', delta_percent: 0.000001 }],
      limits: { candles_per_request: 3 },
    },
    refusal: /^400 .*candles_per_request \(3\)/,
    async attempt(stage, count) {
      const feed = await Feed.open(stage, { nowNs: () => stage.clock.nowNs() });
      for (let n = 1; n <= count; n++) {
        stage.clock.advanceMs(60_000);
        await feed.accept({ symbol: 'ASSET0', price: units(n) });
        await latestWhen(stage, 'ASSET0', ({ price }) => price === String(units(n)));
      }
      return rest(stage, '/v1/tradingview/history?symbol=ASSET0&resolution=1&from=0&to=9999999999');
    },
  },
  {
    name: 'subscriptions_per_connection',
    at: 1_000,
    sections: { assets: ASSETS },
    refusal: /^1001 subscriptions, subscriptions_per_connection is 1000$/,
    async attempt(stage, count) {
      const socket = await TestSocket.open(`${stage.socketUrl}/ws`);
      await control(socket, [...Array(count - 1).keys()]);
      return control(socket, [0, count - 1]);
    },
  },
  {
    name: 'stream_connections',
    at: 3,
    sections: { limits: { stream_connections: 3 } },
    refusal: /^503 .*stream_connections \(3\)/,
    attempt: (stage, count) => connections(stage, new Array(count).fill('/ws')),
  },
  {
    name: 'connections_per_address',
    at: 10,
    sections: { limits: { connections_per_address: 10 } },
    refusal: /^429 .*connections_per_address \(10\)/,
    async attempt(stage, count) {
      const open = () => TestSocket.open(`${stage.socketUrl}/ws`);
      await Promise.all(Array.from({ length: count - 1 }, open));
      // A connection counts for 12 s, and a WebSocket until its end.
      stage.clock.advanceMs(12_000);
      return open().then(
        () => WORKS,
        ({ message }: Error) => message,
      );
    },
  },
  {
    name: 'connections_per_token',
    at: 100,
    refusal: /^429 .*connections_per_token \(100\)/,
    attempt: (stage, count) =>
      connections(
        stage,
        Array.from({ length: count }, (_, i) => ['/ws', '/evm/publish', '/stark/publish'][i % 20] ?? '/ws'),
      ),
  },
  {
    name: 'publish_message_bytes',
    at: 1024 * 1024,
    refusal: /^the message has 1048577 bytes, publish_message_bytes is 1048576$/,
    async attempt(stage, count) {
      const feed = await Feed.open(stage, { nowNs: () => stage.clock.nowNs() });
      const message = () => publishMessage('size', [feed.sign({ symbol: 'BTCUSD', price: units(1) })]);
      const said = await answerTo(feed.socket, message().padEnd(count));
      stage.clock.advanceMs(1);
      const after = await answerTo(feed.socket, message());
      return after === WORKS ? said : `then ${after}`;
    },
  },
  {
    name: 'updates_per_message',
    at: 1_000,
    sections: { assets: ASSETS },
    refusal: /^data holds 1001 updates, updates_per_message is 1000$/,
    async attempt(stage, count) {
      const feed = await Feed.open(stage, { nowNs: () => stage.clock.nowNs() });
      const updates = symbols(count).map((symbol) => feed.sign({ symbol, price: units(1) }));
      return answerTo(feed.socket, publishMessage('many', updates));
    },
  },
  {
    name: 'trace_id_characters',
    at: 20,
    sections: { limits: { trace_id_characters: 20 } },
    refusal: /^trace_id is longer than 20 characters$/,
    async attempt(stage, count) {
      const feed = await Feed.open(stage, { nowNs: () => stage.clock.nowNs() });
      const update = feed.sign({ symbol: 'BTCUSD', price: units(1) });
      feed.socket.send(publishMessage('t'.repeat(count), [update]));
      const { accepted, error } = await feed.socket.nextJson();
      return (accepted as readonly string[]).length === 1
        ? ((error as string | undefined) ?? WORKS)
        : 'nothing counted';
    },
  },
  {
    name: 'subscription_changes_per_second',
    at: 20,
    sections: { assets: ASSETS, limits: { subscription_changes_per_second: 20 } },
    refusal: /^more than subscription_changes_per_second \(20\) assets in the token's requests of a second$/,
    async attempt(stage, count) {
      const open = () => TestSocket.open(`${stage.socketUrl}/ws`);
      await control(await open(), [...Array(10).keys()]);
      return control(await open(), [...Array(count - 10).keys()]);
    },
  },
  {
    name: 'publish_bytes_per_second',
    at: 4_000,
    sections: { limits: { publish_bytes_per_second: 4_000, publish_message_bytes: 4_000 } },
    refusal: /^the token has sent more than publish_bytes_per_second \(4000\): not read$/,
    async attempt(stage, count) {
      const feed = await Feed.open(stage, { nowNs: () => stage.clock.nowNs() });
      const message = () => publishMessage('size', [feed.sign({ symbol: 'BTCUSD', price: units(1) })]);
      const first = await answerTo(feed.socket, message().padEnd(2_000));
      const other = await Feed.open(stage, { nowNs: () => stage.clock.nowNs() });
      stage.clock.advance(1n);
      const said = await answerTo(other.socket, message().padEnd(count - 2_000));
      return first === WORKS ? said : `then ${first}`;
    },
  },
];

test('every limit of the configuration has a test', async (t) => {
  const keys = Object.keys(fileSchema.parse(JSON.parse(testConfig(t.testdir()))).limits);
  const tables = [...LIMITS.map(({ name }) => name), ...Object.keys(TESTED_BY)];
  t.same(keys.sort(), tables.sort());
  for (const file of Object.values(TESTED_BY)) t.ok(existsSync(join(ROOT, `test/${file}.test.ts`)), file);
});

for (const { name, at, sections, attempt, refusal } of LIMITS)
  test(`${name}: ${at} work, ${at + 1} are refused`, async (t) => {
    const outcomes = [at, at + 1].map(async (count) => {
      const clock = new FakeClock();
      const service = await startTestService(t, sections, { clock });
      return attempt({ ...service, clock }, count).finally(() => service.stop());
    });
    const [within, beyond] = await Promise.all(outcomes);
    t.equal(within, WORKS, `${at}`);
    t.match(beyond, refusal, `${at + 1}`);
  });

async function rest({ url }: Stage, path: string): Promise<string> {
  const response = await get(`${url}${path}`);
  const { error } = (await response.json()) as { error?: string };
  return response.status === 200 ? WORKS : `${response.status} ${error}`;
}

async function answerTo(socket: TestSocket, message: unknown): Promise<string> {
  socket.send(message);
  const { type, error, rejected } = await socket.nextJson();
  if (type === 'error') return error as string;
  return Object.keys(rejected ?? {}).length === 0 ? WORKS : JSON.stringify(rejected);
}

function control(socket: TestSocket, ids: readonly number[]): Promise<string> {
  return answerTo(socket, { type: 'subscribe', assets: ids, id: 1 });
}

/**
 * Opens connections. If the last connection is refused, closes another connection and tries the last one again, which must
 * succeed.
 */
async function connections({ socketUrl }: Stage, paths: readonly string[]): Promise<string> {
  const open = (path: string) => TestSocket.open(socketUrl + path);
  const sockets = await Promise.all(paths.slice(0, -1).map(open));
  const last = paths.at(-1)!;
  const said = await open(last).then(
    () => WORKS,
    ({ message }: Error) => message,
  );
  if (said === WORKS) return said;
  await sockets[0]!.close();
  await open(last);
  return said;
}

function symbols(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `ASSET${i}`);
}
