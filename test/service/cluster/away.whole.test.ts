import { isDeepStrictEqual } from 'node:util';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { systemClock } from '../../../src/clock/clock.js';
import { CHECKPOINT_S } from '../../../src/model/node_list.js';
import { NS_PER_SECOND } from '../../../src/model/time.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { Feed, units } from '../feed.js';
import { get, type TestService } from '../harness.js';
import { nodesOf, TestCluster } from './nodes.js';

const MINUTE_NS = 60n * NS_PER_SECOND;
const SYMBOLS = ['BUSY', 'IDLE', 'RARE'];
/** The service signs only changes of the price, so an unchanged price leaves no record. */
const ASSETS = SYMBOLS.map((symbol, i) => ({
  id: i + 1,
  symbol,
  max_age: '4h',
  clock_period: '4h',
  delta_percent: 0.000001,
}));

test(
  'a node that was away for longer than the log keeps has the candles, aggregates and inputs of the others',
  needsNatsServer(),
  async (t) => {
    const cluster = await TestCluster.start(t);
    // The clock begins in the past, because no aggregate has a signing time after the servers' time.
    const clock = new FakeClock(systemClock());
    clock.advance(-60n * MINUTE_NS);
    const sections = { assets: ASSETS };
    const start = (node: number, role: 'aggregator' | 'edge', dir?: string) =>
      cluster.node(node, role, sections, { clock, ...(dir && { dir }) });
    const beganNs = clock.nowNs();
    const leader = await start(1, 'aggregator');
    const feed = await Feed.open(leader, { ack: 'durable', nowNs: () => clock.nowNs() });
    let price = 100;
    const publish = (symbol: string) => {
      price += 7;
      return feed.accept({ symbol, price: units(price) });
    };
    const toMinute = (seconds: number) => {
      const nowNs = clock.nowNs();
      clock.advance(MINUTE_NS - (nowNs % MINUTE_NS) + BigInt(seconds) * NS_PER_SECOND);
    };
    const served = async ({ url }: TestService) => {
      const history = SYMBOLS.map(async (symbol) =>
        (
          await get(`${url}/v1/tradingview/history?symbol=${symbol}&resolution=1&from=0&to=4000000000`)
        ).json(),
      );
      const latest = await (await get(`${url}/v1/prices/latest?assets=${SYMBOLS.join()}`)).text();
      return [...(await Promise.all(history)), latest];
    };
    const untilEqual = (node: TestService, like = leader) =>
      eventually(async () => isDeepStrictEqual(await served(node), await served(like)), {
        what: 'both nodes serve the same',
        withinMs: 60_000,
      }).catch(async (error) => {
        t.same(await served(node), await served(like));
        throw error;
      });

    const dir = t.testdir();
    const standby = await start(2, 'aggregator', dir);
    toMinute(1);
    for (const symbol of SYMBOLS) await publish(symbol);
    await untilEqual(standby);
    await standby.stop();
    // The minute continues after the node has left.
    for (const symbol of SYMBOLS) await publish(symbol);
    for (let minute = 0; minute < 3; minute++) {
      toMinute(5);
      await publish('BUSY');
      await publish('BUSY');
    }
    // The log will begin after this record, so it will have no record of RARE in this minute.
    await publish('RARE');

    const connection = await connect({ servers: [...cluster.servers] });
    t.teardown(() => connection.close());
    const { streams } = await jetstreamManager(connection);
    const kept = (await streams.info('TS_MAIN_LOG')).state.last_seq;
    await publish('BUSY');
    for (let minute = 0; minute < 2; minute++) {
      toMinute(5);
      await publish('BUSY');
    }
    await publish('RARE');
    clock.advance(BigInt(CHECKPOINT_S) * NS_PER_SECOND);
    await publish('BUSY');
    const checkpointNs = clock.nowNs();
    await eventually(() => clock.nowNs() > checkpointNs + 2n * NS_PER_SECOND);
    // The log refuses to be purged. So the test sets a limit with which the log keeps only the newer records.
    const { config, state } = await streams.info('TS_MAIN_LOG');
    await streams.update('TS_MAIN_LOG', { ...config, max_msgs: state.last_seq - kept });
    await streams.update('TS_MAIN_LOG', config);
    t.ok((await streams.info('TS_MAIN_LOG')).state.first_seq > kept);

    const again = await start(2, 'aggregator', dir);
    const fresh = await start(3, 'edge');
    for (const node of [again, fresh])
      await eventually(async () => (await nodesOf(node)).some(({ role }) => role === 'leader'));
    const wholeOf = async ({ url }: TestService, from: bigint) => {
      let text = '';
      let query: string | undefined = `asset=BUSY&from=${from}&to=${checkpointNs}`;
      while (query !== undefined) {
        const answer: Response = await get(`${url}/v1/prices/range?${query}`);
        if (answer.status !== 200) return `${answer.status}`;
        text += await answer.text();
        query = /\?(.*)>/.exec(answer.headers.get('link') ?? '')?.[1];
      }
      return text;
    };
    const before = await get(`${leader.url}/v1/prices/range?asset=BUSY&from=${beganNs}&to=${checkpointNs}`);
    const keptFromNs = BigInt(/"kept_from":(\d+)/.exec(await before.text())![1]!);
    const lines = (await wholeOf(leader, keptFromNs)).split('\n').slice(0, -1);
    const times = lines.map((line) => BigInt(/"timestamp":(\d+),"msg_hash"/.exec(line)![1]!));
    t.ok(times.length >= 10, `${times.length} aggregates`);
    for (const node of [again, fresh]) await untilEqual(node);
    t.equal(
      await wholeOf(again, times[0]!),
      await wholeOf(leader, times[0]!),
      'the missed part comes from another node',
    );
    for (const timeNs of times) {
      const query = `/v1/prices/at?assets=BUSY&timestamp=${timeNs + 1n}`;
      t.equal(
        await (await get(again.url + query)).text(),
        await (await get(leader.url + query)).text(),
        query,
      );
    }
    toMinute(20);
    for (const symbol of SYMBOLS) await publish(symbol);
    for (const node of [again, fresh]) await untilEqual(node);

    await eventually(async () => (await nodesOf(leader)).length === 3);
    await leader.stop();
    await eventually(async () =>
      (await nodesOf(again)).some(({ node, role }) => node === 2 && role === 'leader'),
    );
    // Without their inputs, the prices of the idle assets would end when the node begins to lead.
    const { data } = (await (await get(`${again.url}/v1/prices/latest?assets=${SYMBOLS.join()}`)).json()) as {
      data: Record<string, unknown>;
    };
    t.same(Object.keys(data).sort(), SYMBOLS);
    await untilEqual(fresh, again);
  },
);
