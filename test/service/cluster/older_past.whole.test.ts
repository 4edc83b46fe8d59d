import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { type Test, test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import { freePorts } from '../../../src/cli/demo/free_ports.js';
import { needsNatsServer } from '../../cluster/nats/servers.js';
import { emptyFolder } from '../../publiclog/witness/small_witness.js';
import { ServeProcess, writeConfig } from '../child.js';
import { get, type TestService } from '../harness.js';
import { priceOf } from '../logged_prices.js';
import { nodesOf, TestCluster, untilReady } from './nodes.js';

const ASSETS = [
  { id: 1, symbol: 'BTCUSD', max_age: '600s', clock_period: '24h', delta_percent: 0.000001 },
  {
    id: 2,
    symbol: 'DYDXUSD',
    signature_type: 'stark',
    max_age: '600s',
    clock_period: '24h',
    delta_percent: 0.000001,
  },
];
const ASSET_NAMES = [
  ['BTCUSD', 'evm'],
  ['DYDXUSD', 'stark'],
] as const;

type Served = Pick<TestService, 'url'>;

/** Starts a node in its own process. */
async function startOlder(t: Test, { servers }: TestCluster) {
  const dir = emptyFolder(t);
  mkdirSync(join(dir, 'data'));
  const [port] = await freePorts(1);
  const process = new ServeProcess([
    '--config',
    writeConfig(dir, {
      listen: { host: '127.0.0.1', port },
      assets: ASSETS,
      cluster: { role: 'aggregator', node: 1, servers, replicas: 1, durable: 'memory' },
      storage: { dir: join(dir, 'data') },
    }),
  ]);
  t.teardown(() => process.kill());
  return { process, older: (await process.ready()) as TestService };
}

/** Removes the records up to a sequence from the log, as the servers do when the records are too old. */
async function forget(connection: NatsConnection, kept: number): Promise<void> {
  const { streams } = await jetstreamManager(connection);
  const { config, state } = await streams.info('TS_MAIN_LOG');
  // The log refuses to be purged.
  await streams.update('TS_MAIN_LOG', { ...config, max_msgs: state.last_seq - kept });
  await streams.update('TS_MAIN_LOG', config);
}

async function textOf({ url }: Served, path: string): Promise<string> {
  const response = await get(`${url}/v1/prices/${path}`);
  return `${response.status} ${await response.text()}`;
}

/** Reads a range over all its answers. */
async function rangeOf({ url }: Served, query: string): Promise<{ text: string; answers: number }> {
  let text = '';
  let answers = 0;
  for (let path: string | undefined = `/v1/prices/range?${query}`; path !== undefined; answers++) {
    const response = await get(`${url}${path}`);
    text += await response.text();
    if (response.status !== 200) return { text: `${response.status} ${text}`, answers };
    path = /^<(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1];
  }
  return { text, answers };
}

/** Returns the times of the signatures in the lines of a range. */
function timesIn(text: string): bigint[] {
  return [...text.matchAll(/"timestamp":(\d+),"msg_hash":"[^"]*"\},"publisher_merkle_root"/g)].map(
    ([, time]) => BigInt(time!),
  );
}

function keptFromIn(text: string): bigint | undefined {
  const digits = /^410 .*"kept_from":(\d+)\}$/.exec(text)?.[1];
  return digits === undefined ? undefined : BigInt(digits);
}

test(
  'a node that joined late serves what another node has kept from before, verified, and no more when that node is gone',
  needsNatsServer(),
  async (t) => {
    const cluster = await TestCluster.start(t);
    const { process, older } = await startOlder(t, cluster);
    await untilReady(older);
    let price = 100n;
    const publish = async (count: number) => {
      for (let i = 0; i < count; i++)
        for (const [symbol, type] of ASSET_NAMES)
          await priceOf(older, symbol, type, ++price, BigInt(Date.now()) * 1_000_000n);
    };
    await publish(12);
    const connection = await connect({ servers: [...cluster.servers] });
    t.teardown(() => connection.close());
    const { streams } = await jetstreamManager(connection);
    const kept = (await streams.info('TS_MAIN_LOG')).state.last_seq;
    await publish(2);
    await forget(connection, kept);
    const late = await cluster.node(2, 'aggregator', { assets: ASSETS });
    const edge = await cluster.node(3, 'edge', { assets: ASSETS, listen: { threads: 2 } });
    const nodes = [late, edge];
    for (const node of nodes) await untilReady(node);
    await publish(2);
    for (const node of nodes) await eventually(async () => (await nodesOf(node)).length === 3);

    const firstNs = keptFromIn(await textOf(older, 'at?assets=BTCUSD&timestamp=1'))!;
    const toNs = BigInt(Date.now()) * 1_000_000n;
    const whole = new Map<string, bigint[]>();
    for (const [symbol] of ASSET_NAMES) {
      const query = `asset=${symbol}&from=${firstNs}&to=${toNs}`;
      const { text } = await rangeOf(older, query);
      const times = timesIn(text);
      whole.set(symbol, times);
      t.equal(times.length, 16);
      for (const [node, name] of [
        [late, 'aggregator'],
        [edge, 'edge'],
      ] as const) {
        for (const form of ['', '&every=1s', '&detail=signature', '&detail=price']) {
          const read = await rangeOf(node, query + form);
          t.equal(read.text, (await rangeOf(older, query + form)).text, `${name}: ${symbol}${form}`);
          t.equal(read.answers, 2, 'one answer from the other node, and one of its own');
        }
        for (const timeNs of times)
          for (const path of [
            `at?assets=${symbol}&timestamp=${timeNs}`,
            `at?assets=BTCUSD,DYDXUSD&timestamp=${timeNs + 1n}&quality=true`,
          ])
            t.equal(await textOf(node, path), await textOf(older, path), `${name}: ${path}`);
        const before = `asset=${symbol}&from=${times[2]}&to=${times[9]}`;
        for (const form of ['', '&format=csv']) {
          t.same(
            await rangeOf(node, before + form),
            await rangeOf(older, before + form),
            `${name}: ${before}`,
          );
        }
        t.equal(keptFromIn(await textOf(node, 'at?assets=BTCUSD&timestamp=1')), firstNs, 'the earliest time');
      }
    }

    const path = `at?assets=BTCUSD&timestamp=${whole.get('BTCUSD')![5]!}`;
    await process.kill();
    for (const node of nodes) {
      const startMs = performance.now();
      const text = await textOf(node, path);
      t.ok(performance.now() - startMs < 5_000, 'the wait has a limit');
      const keptNs = keptFromIn(text)!;
      t.ok(keptNs > whole.get('BTCUSD')![11]!, `its own past begins later: ${text}`);
      t.equal(keptFromIn((await rangeOf(node, `asset=BTCUSD&from=${firstNs}&to=${toNs}`)).text), keptNs);
    }
  },
);
