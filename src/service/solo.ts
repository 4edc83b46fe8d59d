import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import { Aggregator, type AggregatorOptions } from '../aggregator/aggregator.js';
import { whenDurable } from '../aggregator/publisher_session.js';
import { aggregateTroubles, ClockWatch, secondsOf } from '../clock/clock_watch.js';
import { openAggregateTimes } from '../clock/signed_times.js';
import type { FeedSource } from '../feed/feed_source.js';
import { RecordingSink } from '../feed/recording_sink.js';
import { secondOf } from '../model/time.js';
import type { Store } from '../store/store.js';
import type { PriceMaker } from './price_maker.js';
import { type Settings, signersOf } from './settings.js';

export interface PriceMakerOptions
  extends Pick<AggregatorOptions, 'clock' | 'counters' | 'pool' | 'onDue' | 'onApplied'> {
  /** At the start. */
  readonly settings: Settings;
  readonly store: Store;
  readonly source: FeedSource;
  readonly logger: Logger;
}

/** The number of a process that is alone. */
export const SOLO_NODE = 0;

/** Makes prices in this process, which needs no other. Resolves when times may be signed, or the disk fails. */
export async function openSolo(options: PriceMakerOptions): Promise<PriceMaker> {
  const { clock, store, source, logger } = options;
  let { settings } = options;
  const startedS = Number(secondOf(clock.nowNs()));
  const times = await openAggregateTimes(clock, store.marks, store.newestSecond);
  const clockWatch = new ClockWatch({ clock, troubles: aggregateTroubles(clock, times), logger });
  const sink = new RecordingSink({ clock, store, source });
  const aggregator = new Aggregator({
    ...aggregatorOptions(options, () => settings),
    times,
    sink,
    inputs: store,
  });
  aggregator.restore();
  sink.restore(settings.catalogue);
  // A price that moved far enough is signed at the end of this turn: its aggregate is to be in the same commit.
  const written = () => endOfTurn().then(() => store.durable());

  return {
    receiver: {
      receive: (session, message) => whenDurable(session, aggregator.receive(session, message), written),
    },
    get updatesWaiting() {
      return aggregator.updatesWaiting;
    },
    activity: () => aggregator.activity(),
    get aggregatesAheadSeconds() {
      return secondsOf(times.aheadNs);
    },
    nodes: () => ({
      self: SOLO_NODE,
      nodes: [{ node: SOLO_NODE, name: 'solo', role: 'leader' }],
      signers: signersOf(settings, startedS).map((signer) => ({ ...signer, node: SOLO_NODE })),
    }),
    troubles: () => [],
    clockTroubles: () => clockWatch.reasons(),
    nextDueNs: (nowNs) => aggregator.nextDueNs(nowNs),
    tick(nowNs) {
      aggregator.tick(nowNs);
      clockWatch.tick(nowNs);
    },
    start() {},
    reload(next) {
      settings = next;
      // New assets are priced at once, from inputs that now count; assets that are gone lose their price.
      aggregator.reload(next.catalogue);
    },
    leave: async () => {},
    async close() {
      times.close();
    },
  };
}

/** What an aggregator needs wherever its prices go. */
export function aggregatorOptions(
  { clock, counters, pool, onDue, onApplied, logger }: PriceMakerOptions,
  settings: () => Settings,
): Omit<AggregatorOptions, 'times' | 'sink' | 'inputs'> {
  const { catalogue, config } = settings();
  return {
    catalogue,
    clock,
    counters,
    pool,
    onDue,
    onApplied,
    defer: setImmediate,
    ingest: config.ingest,
    // A process that makes prices has the keys for them.
    signer: () => settings().signer!,
    nowMs: () => performance.now(),
    badSignaturesPerSecondMax: config.limits.badSignaturesPerSecond,
    onSigningFailed: (count, error) => logger.error({ count, err: error }, 'aggregates could not be signed'),
  };
}
