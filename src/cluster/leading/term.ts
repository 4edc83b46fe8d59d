import type { AssetName } from '../../model/asset_map.js';
import type { LivePrice } from '../../model/price_with_quality.js';
import type { LogPosition } from '../bus.js';
import type { Claim, LogEntry } from '../log/log_batch.js';
import { LogWriter, type LogWriterOptions } from '../log/log_writer.js';
import { assetKey } from '../ticks/id_mapping.js';
import type { ShownPrices } from '../ticks/shown_prices.js';
import { TickSender, type TickSenderOptions } from '../ticks/tick_sender.js';
import type { ClusterTiming } from '../timing.js';

export interface TermOptions
  extends Omit<LogWriterOptions, 'bus' | 'timing'>,
    Pick<TickSenderOptions, 'nowMs' | 'defer' | 'taxonomy'> {
  /** The prices that readers of this node see. */
  readonly shown: ShownPrices;
  readonly bus: LogWriterOptions['bus'] & TickSenderOptions['bus'];
  readonly timing: ClusterTiming;
}

/**
 * A period in which this node leads. All prices and records of the host pass through the term. A term that has ended ignores prices and
 * records, so a part of the host that learns of the end late does no harm.
 */
export class Term {
  readonly epoch: number;
  readonly #writer: LogWriter;
  readonly #sender: TickSender;
  readonly #shown: ShownPrices;
  readonly #tickLeaseMs: number;
  #isOver = false;

  constructor(options: TermOptions) {
    const { bus, follower, epoch, claimedMs, taxonomy, timing, nowMs, defer } = options;
    this.epoch = epoch;
    this.#shown = options.shown;
    this.#tickLeaseMs = timing.tickLeaseMs;
    // The log is written one turn of the event loop after the ticks. Readers wait for ticks, and each write to a socket takes time.
    this.#writer = new LogWriter({
      bus,
      follower,
      epoch,
      claimedMs,
      timing,
      nowMs,
      defer: (callback) => defer(() => defer(callback)),
      failed: options.failed,
      overflowed: options.overflowed,
    });
    const mayTick = () => nowMs() < this.leaseEndMs;
    this.#sender = new TickSender({ bus, epoch, taxonomy, mayTick, timing, nowMs, defer });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The time until which this node may send ticks. After this time another node may lead. Each acknowledged write extends it. */
  get leaseEndMs(): number {
    return this.#writer.acknowledgedSentMs + this.#tickLeaseMs;
  }

  /**
   * Appends an entry to the log. The entry takes effect when it is applied.
   * @throws RangeError when the entry is larger than the log accepts
   */
  append(entry: LogEntry): void {
    if (!this.#isOver) this.#writer.append(entry);
  }

  /**
   * Resolves when the log has all entries that were appended before the call.
   * @throws LeadershipLost when it is unknown whether the log has the entries
   */
  durable(): Promise<void> {
    return this.#writer.durable();
  }

  /** Notes the asset's first live price, or a change of its live price or quality. */
  priced(asset: AssetName, live: LivePrice): void {
    if (this.#isOver) return;
    const key = assetKey(asset);
    this.#shown.show(key, live);
    this.#sender.priced(key, live);
  }

  ended(asset: AssetName): void {
    if (this.#isOver) return;
    const key = assetKey(asset);
    this.#shown.show(key, undefined);
    this.#sender.ended(key);
  }

  /** Begins to send ticks to the other nodes. Called after the host has reported all live prices. */
  startTicks(): void {
    if (this.#isOver) return;
    this.#shown.keep(this.#sender.live);
    this.#sender.start();
  }

  /** Stops the prices of the term, then writes the remaining entries and this claim. Called when the host has stopped making prices. */
  resign(claim: Claim): void {
    this.#isOver = true;
    this.#sender.stop();
    this.#writer.finish(claim);
  }

  /** Ends the term. Called when another node leads, or when no node leads. */
  end(): void {
    this.#isOver = true;
    this.#sender.stop();
    this.#writer.stop();
  }

  /** Notes that a record of this epoch has been applied. */
  applied(position: LogPosition): void {
    this.#writer.applied(position);
  }

  tick(nowMs: number): void {
    this.#writer.tick(nowMs);
    this.#sender.tick(nowMs);
  }

  nextDueMs(): number {
    return Math.min(this.#writer.nextDueMs(), this.#sender.nextDueMs());
  }
}
