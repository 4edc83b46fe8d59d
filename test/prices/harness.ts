import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { createPriceSigner, type PriceSigner } from '../../src/client/index.js';
import { publishMessage } from '../../src/client/sign/sign_price.js';
import { AggregateTimes } from '../../src/clock/aggregate_times.js';
import { StreamTimes } from '../../src/clock/stream_times.js';
import { Ticker } from '../../src/clock/ticker.js';
import { LocalLog } from '../../src/cluster/node/local_log.js';
import { LogSink } from '../../src/cluster/node/log_sink.js';
import { type AggregateSigner, createAggregateSigner } from '../../src/crypto/aggregate_signer.js';
import { createFrameSigner } from '../../src/crypto/frame_signer.js';
import { keccak256Into } from '../../src/crypto/keccak.js';
import { type CryptoPool, createCryptoPool } from '../../src/crypto/pool/pool.js';
import { FeedSource } from '../../src/log/feed/feed_source.js';
import { openStore } from '../../src/log/store/store.js';
import type { Asset, ListedPublisher, SignatureType } from '../../src/model/asset.js';
import { Catalogue } from '../../src/model/catalogue.js';
import { createCounters } from '../../src/model/counters.js';
import { parseHex } from '../../src/model/hex.js';
import { NS_PER_SECOND } from '../../src/model/time.js';
import { Aggregator } from '../../src/prices/aggregator.js';
import { readPublishMessage } from '../../src/prices/message.js';
import type { PublisherSession, PublishOutcome } from '../../src/prices/publisher_session.js';
import { ServedPrices } from '../../src/service/edge/served_prices.js';
import { StreamEngine } from '../../src/stream/engine.js';
import { PriceTable } from '../../src/stream/price_table.js';
import { NO_SCHEDULE } from '../../src/wire/market_status_codes.js';
import { FakeClock } from '../clock/fake_clock.js';
import { FakeTickTimer } from '../clock/fake_tick_timer.js';
import { MemoryMarks } from '../clock/memory_marks.js';
import { sampleShown } from '../log/records/sample_line.js';
import { samplePublisher } from '../model/sample.js';
import { STREAM_LIMITS } from '../stream/harness.js';

export const SERVICE_KEYS = { evm: Buffer.alloc(32, 0x51), stark: Buffer.alloc(32, 0x01) };
export const SERVICE_ORACLE_ID = 'servc';

/** A publisher of the configuration and the signer that has its key. */
export interface TestPublisher {
  readonly signer: PriceSigner;
  readonly publisher: ListedPublisher;
}

export function testPublisher(
  index: number,
  signatureType: SignatureType = 'evm',
  overrides: { oracleId?: string } = {},
): TestPublisher {
  const secretKey = Buffer.alloc(32, index + 1);
  const signer = createPriceSigner({ signatureType, secretKey, oracleId: 'czowx' });
  const key = parseHex(signer.publicKey, signatureType === 'evm' ? 20 : 32)!;
  return { signer, publisher: samplePublisher({ index, signatureType, key, ...overrides }) };
}

export interface AggregatorOptions {
  readonly assets: readonly Asset[];
  readonly publishers: readonly TestPublisher[];
  readonly threads?: number;
  /** Wraps the aggregator's signer. */
  readonly through?: (signer: AggregateSigner) => AggregateSigner;
  /** Returns another pool for verification. */
  readonly verifying?: (pool: CryptoPool) => CryptoPool;
}

/** Starts an aggregator with real parts around it, except the clock and the end of turns. */
export async function startAggregator(t: Test, options: AggregatorOptions) {
  const { assets, publishers, threads = 0 } = options;
  const { through = (signer) => signer, verifying = (pool) => pool } = options;
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-test-'));
  const clock = new FakeClock();
  // Each message arrives in a separate turn.
  const pool = await createCryptoPool({ threads, repeat: () => () => {}, defer: (end) => end() });
  const those = publishers.map(({ publisher }) => publisher);
  const store = await openStore({ dir, assets, candleRetentionMs: 86_400_000, clock });
  t.teardown(async () => {
    await pool.close();
    await store.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const catalogue = new Catalogue({ assets, publishers: those });
  const table = new PriceTable(assets.map(({ id }) => id));
  const counters = createCounters();
  const deferred: (() => void)[] = [];
  const defer = (callback: () => void) => {
    deferred.push(callback);
  };
  const marks = new MemoryMarks();
  const ticker = new Ticker(clock);
  const stream = new StreamEngine({
    table,
    catalogue,
    taxonomyId: 1,
    clock,
    times: new StreamTimes({ clock, node: 0, thread: 0, placeOf: marks.placeOf }),
    statusesAt: () => new Uint8Array(assets.length).fill(NO_SCHEDULE),
    digest: keccak256Into,
    ...createFrameSigner(() => SERVICE_KEYS.evm, pool),
    publish: () => {},
    newTopic: () => 0,
    defer,
    limits: STREAM_LIMITS,
    counters,
    onDue: (timeNs) => ticker.noLaterThan(timeNs),
  });
  const signer = through(createAggregateSigner(SERVICE_KEYS, SERVICE_ORACLE_ID, pool));
  const failures: [number, string][] = [];
  const aggregates = { signed: () => {} };
  const prices = new ServedPrices({ table, stream, aggregates });
  const source = new FeedSource(1);
  const log = new LocalLog({ store, source });
  const sink = new LogSink({ log, store, source, shown: sampleShown() });
  source.feedTo(prices);
  const aggregator = new Aggregator({
    catalogue,
    ingest: {
      maxPastNs: 60n * NS_PER_SECOND,
      maxFutureNs: 2n * NS_PER_SECOND,
      maxBackwardNs: 2n * NS_PER_SECOND,
    },
    badSignaturesPerSecondMax: 100,
    deltaAggregatesPerSecondMax: 20,
    parts: {
      clock,
      times: new AggregateTimes(clock, marks.placeOf('aggregates'), 0n),
      pool: verifying(pool),
      signer: () => signer,
      sink,
      inputs: log,
      counters,
    },
    hooks: {
      // The work of a turn takes no time.
      nowMs: () => 0,
      defer,
      onApplied: () => {},
      onSigningFailed: (count, error) => {
        failures.push([count, (error as Error).message]);
      },
      onDue: (timeNs) => ticker.noLaterThan(timeNs),
    },
  });
  ticker.start([aggregator, stream], (onTime) => new FakeTickTimer(clock, onTime));
  /** Runs the callbacks that were deferred to the end of the turn, until none is left. */
  const endTurn = () => {
    while (deferred.length > 0) deferred.shift()!();
  };
  return {
    aggregator,
    prices,
    clock,
    table,
    counters,
    store,
    /** Failures of signing: the number of aggregates and the reason. */
    failures,
    endTurn,
    /** Lets time pass in steps of 10 ms, with ticks at the requested times. */
    advanceMs(durationMs: number): void {
      for (let ms = 0; ms < durationMs; ms += 10) {
        clock.advance(10_000_000n);
        ticker.runIfDue();
        endTurn();
      }
    },
  };
}

export function newSession(type: SignatureType = 'evm', identity = 'alice'): PublisherSession {
  return {
    type,
    rights: { identity, mayPublishAs: () => true, maySee: () => true },
    isDurable: false,
    unsettled: [],
  };
}

/** Returns a message in which a publisher signs a price for each asset. */
export function messageOf(
  { signer }: TestPublisher,
  prices: Readonly<Record<string, bigint>>,
  timestampNs: bigint,
): string {
  const updates = Object.entries(prices).map(([symbol, price]) =>
    signer.sign({ symbol, price, timestampNs }),
  );
  return publishMessage('t1', updates);
}

/** Reads a message and gives it to the aggregator. */
export function receive(
  aggregator: Aggregator,
  session: PublisherSession,
  text: string,
  again = false,
): PublishOutcome | Promise<PublishOutcome> {
  const message = readPublishMessage(text, 1000);
  if (!message.ok) throw new Error(message.error);
  return aggregator.receive(session, { ...message, again });
}

/** Returns an outcome that is known without waiting for another thread. */
export function atOnce(outcome: PublishOutcome | Promise<PublishOutcome>): PublishOutcome & { ok: true } {
  if (outcome instanceof Promise) throw new Error('not at once');
  if (!outcome.ok) throw new Error(outcome.error);
  return outcome;
}
