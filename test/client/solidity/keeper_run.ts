import { join } from 'node:path';
import type { Test } from 'tap';
import { seededRandom } from '../../../scripts/load/random.js';
import { eventually } from '../../../scripts/load/wait.js';
import { publisherSigner, startTestService, type TestService } from '../../service/harness.js';
import { openPublisher, publish } from '../../service/publishing.js';
import { type Running, startExample } from '../examples/example.js';
import { Chain, type Deployed } from './chain.js';
import { NATIVE_ECRECOVER } from './native_ecrecover.js';
import { E18, NS_PER_S } from './payloads.js';
import { NO_TERMS, readerCode } from './reader.js';
import { RpcNode } from './rpc_node.js';

// A run of the keeper: a service whose prices move, a chain with a reader, and a node that misbehaves.

/** The keeper sends after seven eighths of it. The last eighth is longer than a start of the keeper on a busy machine. */
export const HEARTBEAT_S = 64;
const ASSETS = [
  { id: 1, symbol: 'BTCUSD' },
  { id: 2, symbol: 'ETHUSD' },
  { id: 7, symbol: 'EURUSD' },
];
const TAXONOMY_ID = 7;
const PUBLISH_MS = 40;
const KEEPER_KEY = `0x${'5a'.repeat(32)}`;
const PUSHED = Object.fromEntries(
  ASSETS.map(({ symbol }) => [symbol, { delta: 0.1, staleness: HEARTBEAT_S }]),
);

export interface Market {
  readonly service: TestService;
  readonly reader: Deployed;
  readonly node: RpcNode;
  /** The facts about all blocks so far. */
  readonly seen: Seen;
  /** Starts a keeper, or another one after it was killed. */
  startKeeper(env?: Readonly<Record<string, string>>): Running;
}

export interface Seen {
  /** Stored prices of all assets. */
  stored: number;
  /** Blocks in which a stored price was older than the one before. */
  backward: number;
  /** The longest time between two stored prices of one asset. */
  longestNs: bigint;
}

/** Starts everything but the keeper. @param seed the seed of prices and faults */
export async function openMarket(t: Test, seed: number, faults: boolean): Promise<Market> {
  const random = seededRandom(seed);
  const service = await startTestService(t, {
    service: { taxonomy_id: TAXONOMY_ID },
    assets: ASSETS,
    pushed_assets: { tests: { local: PUSHED } },
  });
  await movePrices(t, service, random);
  const chain = await Chain.create([NATIVE_ECRECOVER]);
  chain.timeS = BigInt(Math.floor(Date.now() / 1000));
  const reader = await chain.deploy(readerCode, [TAXONOMY_ID, 60n, 30n, [service.evmAddress], NO_TERMS]);
  const share = (part: number) => (faults ? part : 0);
  const node = await RpcNode.start(chain, {
    blockMs: 60,
    random,
    lost: share(0.02),
    dropped: share(0.03),
    lies: share(0.2),
  });
  t.teardown(() => node.stop());
  const seen: Seen = { stored: 0, backward: 0, longestNs: 0n };
  node.onBlock = watchBlocks(reader, seen);
  const state = join(t.testdir(), 'keeper.spent');
  const startKeeper = (env = {}) =>
    startExample(t, service, 'keeper', [], {
      RPC_URL: node.url,
      READER: reader.address,
      KEEPER_KEY,
      DEPLOYMENT: 'tests/local',
      CHANNEL: '50ms',
      TICK_MS: '20',
      STUCK_MS: '500',
      DAY_CAP_ETH: '100',
      STATE: state,
      ...env,
    });
  return { service, reader, node, seen, startKeeper };
}

/** Publishes prices, which move by up to 0.2 % each time. The last one stays, so only its heartbeat makes it due. */
async function movePrices(t: Test, service: TestService, random: () => number): Promise<void> {
  const socket = await openPublisher(service);
  t.teardown(() => socket.ws.terminate());
  const prices = ASSETS.map((_, i) => BigInt(i + 1) * 1_000n * E18);
  const signer = publisherSigner(1);
  const move = async () => {
    const timestampNs = BigInt(Date.now()) * 1_000_000n;
    for (const [i, price] of prices.slice(0, -1).entries())
      prices[i] = price + (price * BigInt(Math.round((random() - 0.5) * 4_000))) / 1_000_000n;
    await publish(
      socket,
      ASSETS.map(({ symbol }, i) => signer.sign({ symbol, price: prices[i]!, timestampNs })),
    );
  };
  await move();
  let isMoving = false;
  const timer = setInterval(() => {
    if (isMoving) return;
    isMoving = true;
    // A publish that the end of the test interrupts fails.
    void move()
      .catch(() => {})
      .finally(() => {
        isMoving = false;
      });
  }, PUBLISH_MS);
  t.teardown(() => clearInterval(timer));
}

/** Returns the function that compares the stored prices after each block with those before. */
function watchBlocks(reader: Deployed, seen: Seen): () => Promise<void> {
  const newest = new Map<number, { round: number; timestampNs: bigint }>();
  return async () => {
    for (const { id } of ASSETS) {
      const price = await reader.read<{ round: number; timestampNs: bigint }>('latestOf', id);
      const before = newest.get(id);
      newest.set(id, price);
      if (before === undefined || price.round === before.round) continue;
      seen.stored += price.round - before.round;
      if (price.timestampNs <= before.timestampNs) seen.backward += 1;
      const gapNs = price.timestampNs - before.timestampNs;
      if (before.round > 0 && gapNs > seen.longestNs) seen.longestNs = gapNs;
    }
  };
}

/** Runs the keeper until it has sent so many updates, and kills it at even distances. */
export async function runOverKills(t: Test, market: Market, updates: number, kills: number): Promise<void> {
  const { node, seen } = market;
  let keeper = market.startKeeper();
  for (let kill = 1; kill <= kills + 1; kill++) {
    const target = Math.floor((updates * kill) / (kills + 1));
    await eventually(() => node.mined - node.vain >= target);
    await keeper.end();
    if (kill <= kills) keeper = market.startKeeper();
  }
  t.comment(`${node.mined} transactions, ${node.vain} in vain, ${seen.stored} prices stored`);
  t.comment(`at most ${Number(seen.longestNs / 1_000_000n)} ms between two prices of an asset`);
  t.ok(node.mined - node.vain >= updates, 'updates');
  t.ok(node.vain <= kills, `${node.vain} transactions in vain in ${kills} kills`);
  t.equal(seen.backward, 0, 'never an older price');
  t.ok(seen.longestNs <= BigInt(HEARTBEAT_S) * NS_PER_S, 'none missed beyond the heartbeat');
}
