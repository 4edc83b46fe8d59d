import type { StreamTimes } from '../../clock/stream_times.js';
import type { Config } from '../../config/config.js';
import { createFrameSigner } from '../../crypto/frame_signer.js';
import { keccak256Into } from '../../crypto/keccak.js';
import type { CryptoPool } from '../../crypto/pool/pool.js';
import type { Counters } from '../../model/counters.js';
import { FrameLatency } from '../../model/frame_latency.js';
import { inForceAt } from '../../model/key_schedule.js';
import { type Clock, NS_PER_MS, type TimeNs } from '../../model/time.js';
import { AggregateStreams } from '../../stream/aggregate_streams.js';
import { StreamEngine } from '../../stream/engine.js';
import { FanOut } from '../../stream/fan_out.js';
import { PriceTable } from '../../stream/price_table.js';
import type { StreamLimits } from '../../stream/subscriptions.js';
import type { EdgeHooks } from './edge_hooks.js';
import { ServedPrices } from './served_prices.js';
import type { ServedSettings } from './served_settings.js';
import { loggedDigest, SignedHashes } from './signed_hashes.js';

/** The crypto threads, as an edge uses them. */
export type EdgePool = Pick<CryptoPool, 'here' | 'signEvm'>;

export interface EdgeStreamsOptions {
  readonly served: ServedSettings;
  readonly times: StreamTimes;
  readonly clock: Clock;
  readonly pool: EdgePool;
  readonly counters: Counters;
  readonly hooks: EdgeHooks;
}

/** The prices of an edge, and the streams on which the edge sends each change of a price. */
export class EdgeStreams {
  readonly fanOut = new FanOut();
  readonly prices: ServedPrices;
  readonly stream: StreamEngine;
  readonly aggregates: AggregateStreams;
  readonly #options: EdgeStreamsOptions;
  readonly #table: PriceTable;
  readonly #latency: FrameLatency;
  readonly #hashes: SignedHashes | undefined;

  constructor(options: EdgeStreamsOptions) {
    const { served, counters, hooks } = options;
    this.#options = options;
    this.#table = new PriceTable(served.catalogue.streamingIds);
    this.#latency = new FrameLatency(counters.frameLatency);
    this.#hashes = hooks.onSigned && new SignedHashes(hooks.onSigned, () => performance.now());
    const limits = streamLimits(served.config.limits);
    this.stream = this.#openStream(limits);
    this.aggregates = this.#openAggregates(limits);
    this.prices = new ServedPrices({
      table: this.#table,
      stream: this.stream,
      aggregates: this.aggregates,
    });
  }

  #openStream(limits: StreamLimits): StreamEngine {
    const { served, times, clock, pool, counters, hooks } = this.#options;
    const { signOne, sign } = createFrameSigner(
      () => inForceAt(served.identity.streamKeys, clock.nowNs()).key,
      pool,
    );
    return new StreamEngine({
      table: this.#table,
      catalogue: served.catalogue,
      taxonomyId: served.config.service.taxonomyId,
      times,
      statusesAt: (unixS) => served.markets.statusesAt(unixS),
      digest: loggedDigest(keccak256Into, this.#hashes),
      signOne,
      sign,
      publish: (topic, frame, sequence, isBinary) => {
        this.fanOut.publish(topic, frame, sequence, isBinary);
        this.#latency.sent(sequence, clock);
      },
      newTopic: () => this.fanOut.newTopic(),
      clock,
      limits,
      counters,
      defer: setImmediate,
      onDue: hooks.onDue,
    });
  }

  #openAggregates(limits: StreamLimits): AggregateStreams {
    const { served, clock, counters } = this.#options;
    return new AggregateStreams({
      findAsset: (symbol, type) => served.catalogue.findAsset(symbol, type),
      lineOf: (asset) => this.prices.latest(asset)?.line,
      publish: (topic, frame, sequence) => this.fanOut.publish(topic, frame, sequence),
      newTopic: () => this.fanOut.newTopic(),
      clock,
      limits,
      counters,
      defer: setImmediate,
    });
  }

  get groupCount(): number {
    return this.stream.groupCount + this.aggregates.groupCount;
  }

  /** Applies the reloaded catalogue. The tokens of the connections must already have their new rights. */
  reload(): void {
    const { catalogue } = this.#options.served;
    this.#table.resize(catalogue.streamingIds);
    this.stream.reload(catalogue);
    this.aggregates.reload();
  }

  /** Notes that all prices of a publisher's message have been reported. */
  applied(receivedNs: TimeNs): void {
    this.#latency.received(this.#table.sequence, receivedNs);
    this.stream.messageApplied();
  }

  tick(nowNs: TimeNs): void {
    this.stream.tick(nowNs);
    this.#hashes?.tick();
    this.aggregates.tick(nowNs);
  }

  /** Sends the hashes of all payloads that were signed so far. */
  flushHashes(): void {
    this.#hashes?.flush();
  }
}

function streamLimits(limits: Config['limits']): StreamLimits {
  return {
    clientMessageBytes: limits.clientMessageBytes,
    subscriptionsPerConnection: limits.subscriptionsPerConnection,
    traceIdCharacters: limits.traceIdCharacters,
    controlMessagesPerSecond: limits.controlMessagesPerSecond,
    subscriptionChangesPerSecond: limits.subscriptionChangesPerSecond,
    slowConsumerNs: BigInt(limits.slowConsumerMs) * NS_PER_MS,
  };
}
