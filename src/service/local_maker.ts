import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { AggregateTimes } from '../clock/aggregate_times.js';
import { aggregateTroubles, ClockWatch, type Trouble } from '../clock/clock_watch.js';
import type { BatchSource } from '../cluster/node/batch_source.js';
import { LogSink } from '../cluster/node/log_sink.js';
import type { PriceLog } from '../cluster/node/price_log.js';
import type { OpenLog } from '../cluster/node/public_log.js';
import type { StreamLog } from '../cluster/node/stream_log.js';
import type { FeedSource } from '../log/feed/feed_source.js';
import type { HourWriter } from '../log/past/hour_writer.js';
import type { Store } from '../log/store/store.js';
import type { Asset } from '../model/asset.js';
import { NS_PER_SECOND, type TimeNs } from '../model/time.js';
import { Aggregator } from '../prices/aggregator.js';
import type { AggregatorHooks, AggregatorParts } from '../prices/aggregator_options.js';
import type { ReadMessage } from '../prices/message.js';
import { type PublisherSession, type PublishOutcome, whenDurable } from '../prices/publisher_session.js';
import type { Settings } from './settings.js';
import { shownFacts } from './shown_facts.js';

/** The parts of the process that a maker of prices needs. */
export interface MakerParts extends Pick<AggregatorParts, 'clock' | 'counters' | 'pool'> {
  readonly store: Store;
  readonly past: Pick<HourWriter, 'notice'>;
  /** The public log; absent when the log is off. */
  readonly publicLog?: OpenLog | undefined;
  /** This node's log of streaming payloads. */
  readonly streamLog?: Pick<StreamLog, 'facts'> | undefined;
  readonly source: FeedSource;
  readonly logger: Logger;
}

export interface MakerHooks extends Pick<AggregatorHooks, 'onDue' | 'onApplied'> {
  /** Calls back when the event loop has handled what is waiting now; default: `setImmediate`. */
  readonly defer?: AggregatorHooks['defer'];
}

export interface LocalMakerOptions {
  readonly parts: MakerParts;
  readonly hooks: MakerHooks;
  /** Returns the current settings. */
  readonly settings: () => Settings;
  readonly log: PriceLog;
  /** The times with which the aggregator signs aggregates. */
  readonly times: AggregateTimes;
  /** Further clock problems for reports. */
  readonly troubles?: readonly Trouble[];
}

/** The shortest time between two log lines about dropped aggregates. */
const DROP_LOG_INTERVAL_NS = 10n * NS_PER_SECOND;

/** Makes prices in this process, for the cluster's log or the process's own log. */
export class LocalMaker {
  readonly aggregator: Aggregator;
  readonly times: AggregateTimes;
  readonly clockWatch: ClockWatch;
  readonly #log: PriceLog;
  readonly #sink: LogSink;
  readonly #parts: LocalMakerOptions['parts'];
  /** The number of dropped aggregates already reported in a log line. `#nextDropLogNs` is the earliest time of the next line. */
  #dropsLogged: number;
  #nextDropLogNs = 0n;

  constructor({ parts, hooks, settings, log, times, troubles = [] }: LocalMakerOptions) {
    const { clock, counters, pool, store, source, logger } = parts;
    const { catalogue, config } = settings();
    this.times = times;
    this.#parts = parts;
    this.#dropsLogged = counters.aggregatesDropped;
    this.#log = log;
    this.clockWatch = new ClockWatch({
      clock,
      troubles: [...aggregateTroubles(clock, times), ...troubles],
      logger,
    });
    const sink = new LogSink({ log, store, source, shown: shownFacts(config) });
    this.#sink = sink;
    this.aggregator = new Aggregator({
      catalogue,
      ingest: config.ingest,
      badSignaturesPerSecondMax: config.limits.badSignaturesPerSecond,
      deltaAggregatesPerSecondMax: config.limits.deltaAggregatesPerSecond,
      parts: {
        clock,
        times,
        pool,
        // A process that makes prices has the keys, so its signer exists.
        signer: () => settings().signer!,
        sink,
        inputs: log,
        counters,
      },
      hooks: {
        nowMs: () => performance.now(),
        defer: hooks.defer ?? setImmediate,
        onApplied: hooks.onApplied,
        onSigningFailed: (count, error) =>
          logger.error({ count, err: error }, 'aggregates could not be signed'),
        onDue: hooks.onDue,
      },
    });
    this.aggregator.restore();
    sink.endOthers(catalogue.assets, clock.nowNs());
  }

  receive(session: PublisherSession, message: ReadMessage): PublishOutcome | Promise<PublishOutcome> {
    return whenDurable(session, this.aggregator.receive(session, message), this.written);
  }

  /**
   * Resolves after this turn's signatures. A price that has moved far enough is signed at the end of this turn, and its aggregate must be
   * in the same commit or log record.
   */
  readonly written = async (): Promise<void> => {
    await endOfTurn();
    await this.#log.durable();
  };

  /** Writes an asset's inputs and newest aggregate to the log again, if the aggregate is older than `beforeNs`. */
  putAgain(asset: Asset, beforeNs: TimeNs): void {
    this.aggregator.putAgain(asset, beforeNs);
    this.#sink.putAgain(asset, beforeNs);
  }

  /** Begins to close the batches of the public log. */
  leadLog(
    publicLog: OpenLog | undefined,
    {
      epoch,
      append,
      doubt,
    }: Pick<BatchSource, 'epoch' | 'append'> & { readonly doubt?: () => string | undefined },
  ): void {
    const { times, aggregator } = this;
    const log = this.#log;
    publicLog?.lead({
      epoch,
      append,
      get doubt() {
        return doubt?.();
      },
      get isOver() {
        return log.isOver;
      },
      endPeriod: (periodNs) => times.endPeriod(periodNs),
      get signingSinceNs() {
        return aggregator.signingSinceNs;
      },
      durable: this.written,
    });
  }

  tick(nowNs: TimeNs): void {
    this.aggregator.tick(nowNs);
    this.clockWatch.tick(nowNs);
    this.#logDrops(nowNs);
  }

  #logDrops(nowNs: TimeNs): void {
    const { counters, logger } = this.#parts;
    const count = counters.aggregatesDropped - this.#dropsLogged;
    if (count === 0 || nowNs < this.#nextDropLogNs) return;
    this.#dropsLogged += count;
    this.#nextDropLogNs = nowNs + DROP_LOG_INTERVAL_NS;
    logger.warn({ count }, 'aggregates were never signed: the disk is too slow or full, and newer ones came');
  }
}
