import { test } from 'tap';
import { publishMessage } from '../../src/client/index.js';
import { fileSchema } from '../../src/config/schema.js';
import { FakeClock } from '../clock/fake_clock.js';
import { Feed, units } from '../service/feed.js';
import {
  type Sections,
  sha256,
  startTestService,
  TestSocket,
  TOKEN,
  testConfig,
} from '../service/harness.js';
import { altered, latestWhen, publish } from '../service/publishing.js';
import {
  ASSETS_MAX,
  answerTo,
  connections,
  control,
  lastOf,
  rest,
  type Stage,
  stall,
  symbols,
  WORKS,
} from './limit_attempts.js';

// Tests all limits on a whole service, at the limit and one above it. Limits have their default, unless `limits` sets another
// value. The fake clock does not move, so no second ends during a test.

interface Limit {
  /** The key under `limits`, or a description if the limit has no key. */
  readonly name: string;
  readonly at: number;
  readonly sections?: Sections;
  /** Makes `count` attempts on a fresh service. @returns {@link WORKS}, or the text of the refusal */
  readonly attempt: (stage: Stage, count: number) => Promise<string>;
  /** The answer when the limit is exceeded by one. */
  readonly refusal: RegExp;
}

const ASSETS = symbols(ASSETS_MAX).map((symbol, id) => ({ id, symbol }));
const ONE_REST_TOKEN = [{ name: 'all', sha256: sha256(TOKEN), scopes: ['rest', 'publish'] }];

/**
 * Keys that other tests cover, or that limit nothing countable. `trickle.test.ts` tests `idle_timeout` in real time.
 * `signed_frames_per_second` causes no answer, and `test/stream/signed_delivery.test.ts` tests it.
 * `test/prices/aggregator.test.ts` tests `delta_aggregates_per_second`.
 * `test/server/routes/range_route.test.ts` tests the limits of ranges: a longer range is answered in parts, and more slowly.
 */
const OTHER_KEYS = [
  'delta_aggregates_per_second',
  'drain',
  'idle_timeout',
  'signed_frames_per_second',
  'range_rows',
  'range_rows_per_second',
];

const LIMITS: readonly Limit[] = [
  {
    name: 'assets_per_request',
    at: 100,
    sections: { assets: ASSETS },
    refusal: /^400 assets .*101.*assets_per_request.* 100/,
    attempt: async (stage, count) => rest(stage, `/v1/prices/latest?assets=${symbols(count).join()}`),
  },
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
    name: 'publish_connections_per_token',
    at: 16,
    refusal: /^429 .*publish_connections_per_token \(16\)/,
    attempt: (stage, count) =>
      connections(
        stage,
        Array.from({ length: count }, (_, i) => ['/evm/publish', '/stark/publish'][i % 2]!),
      ),
  },
  {
    name: 'client_message_bytes',
    at: 64 * 1024,
    refusal: /^the message has 65537 bytes, client_message_bytes is 65536$/,
    async attempt(stage, count) {
      const socket = await TestSocket.open(`${stage.socketUrl}/ws`);
      const message = '{"type":"subscribe","assets":[1],"id":1}';
      const said = await answerTo(socket, message.padEnd(count));
      const after = await answerTo(socket, message);
      return after === WORKS ? said : `then ${after}`;
    },
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
    name: 'control_messages_per_second',
    at: 10,
    refusal: /^more than control_messages_per_second \(10\) messages in a second$/,
    async attempt(stage, count) {
      const socket = await TestSocket.open(`${stage.socketUrl}/ws`);
      const said = await lastOf(count, () => control(socket, [1]));
      stage.clock.advanceMs(1_000);
      const next = await control(socket, [1]);
      return next === WORKS ? said : `the next second: ${next}`;
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
  {
    name: 'bad_messages_per_second',
    at: 100,
    refusal: /^1008 more than bad_messages_per_second messages of the token were refused$/,
    async attempt(stage, count) {
      const open = () => TestSocket.open(`${stage.socketUrl}/evm/publish?ack=true`);
      const [one, other] = [await open(), await open()];
      for (let i = 1; i < count; i++) await answerTo(one, '{');
      await answerTo(other, '{');
      other.send('{"type":"ping"}');
      const ended = other.closed.then(({ code, reason }) => `${code} ${reason}`);
      return Promise.race([ended, other.next().then(() => WORKS)]);
    },
  },
  {
    // This limit is in seconds.
    name: 'slow_consumer',
    at: 9,
    sections: { assets: ASSETS },
    refusal: /^1013 too slow$/,
    attempt: stall,
  },
  {
    name: 'bad_signatures_per_second',
    at: 20,
    sections: { limits: { bad_signatures_per_second: 20 } },
    refusal: /^too many bad signatures of this token or key: not verified$/,
    async attempt(stage, count) {
      const feed = await Feed.open(stage, { nowNs: () => stage.clock.nowNs() });
      const other = feed.sign({ symbol: 'BTCUSD', price: units(1), publisher: 2 });
      const { r } = other.signed_price.timestamped_signature.signature;
      const bad = altered(feed.sign({ symbol: 'BTCUSD', price: units(1) }), { r });
      return lastOf(count, async () => {
        const { rejected } = await publish(feed.socket, [bad]);
        const reason = rejected['BTCUSD']!;
        return reason.startsWith('signature is not by') ? WORKS : reason;
      });
    },
  },
  {
    name: 'failed_logins_per_minute',
    at: 300,
    refusal: /^429 too many failed logins from this address$/,
    async attempt(stage, count) {
      const login = async () => {
        const response = await fetch(`${stage.url}/v1/taxonomy`, { headers: { Authorization: 'Basic x' } });
        const { error } = (await response.json()) as { error: string };
        return response.status === 401 ? WORKS : `${response.status} ${error}`;
      };
      return lastOf(count, login);
    },
  },
  {
    name: 'refused_requests_per_minute',
    at: 20,
    sections: { limits: { refused_requests_per_minute: 20 } },
    refusal: /^429 too many refused requests from this address$/,
    async attempt(stage, count) {
      const request = async () => {
        const response = await fetch(`${stage.url}/nothing`);
        const { error } = (await response.json()) as { error: string };
        return response.status === 404 ? WORKS : `${response.status} ${error}`;
      };
      return lastOf(count, request);
    },
  },
  {
    name: 'bad messages before the connection is closed',
    at: 9,
    sections: { limits: { control_messages_per_second: 100 } },
    refusal: /^1008 too many bad messages$/,
    async attempt(stage, count) {
      const socket = await TestSocket.open(`${stage.socketUrl}/ws`);
      for (let i = 0; i < count; i++) await answerTo(socket, '{');
      socket.send({ type: 'subscribe', assets: [], id: 'still here' });
      const ended = socket.closed.then(({ code, reason }) => `${code} ${reason}`);
      return Promise.race([ended, socket.next().then(() => WORKS)]);
    },
  },
  {
    name: 'REST requests of a token in a second',
    at: 5,
    sections: { tokens: ONE_REST_TOKEN },
    refusal: /^429 too many requests$/,
    attempt: (stage, count) => lastOf(count, () => rest(stage, '/v1/prices/assets')),
  },
  {
    name: 'REST requests of an address in a second, without a token',
    at: 5,
    refusal: /^429 too many requests$/,
    attempt: (stage, count) => lastOf(count, () => rest(stage, '/v1/deployments/evm')),
  },
  {
    name: 'streaming asset IDs',
    at: 65_535,
    refusal: /test\.yaml.* assets\[0\]\.id: .*65535/,
    async attempt(stage, count) {
      try {
        stage.reconfigure({ assets: [{ id: count, symbol: 'LAST' }] });
      } catch (error) {
        return (error as Error).message;
      }
      return control(await TestSocket.open(`${stage.socketUrl}/ws`), [count]);
    },
  },
];

test('every limit of the configuration is in the table', async (t) => {
  const keys = Object.keys(fileSchema.parse(JSON.parse(testConfig(t.testdir()))).limits);
  const names = new Set([...LIMITS.map(({ name }) => name), ...OTHER_KEYS]);
  t.same(
    keys.filter((key) => !names.has(key)),
    [],
  );
});

for (const { name, at, sections, attempt, refusal } of LIMITS)
  test(`${name}: ${at} work, ${at + 1} are refused`, async (t) => {
    const outcomes = [at, at + 1].map(async (count) => {
      const clock = new FakeClock();
      const service = await startTestService(sections, { clock });
      return attempt({ ...service, clock }, count).finally(() => service.stop());
    });
    const [within, beyond] = await Promise.all(outcomes);
    t.equal(within, WORKS, `${at}`);
    t.match(beyond, refusal, `${at + 1}`);
  });
