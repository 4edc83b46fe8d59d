import type { AssetName } from '../../model/asset_map.js';
import type { Price } from '../../model/price.js';
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
  /** The prices that the readers of this node see. */
  readonly shown: ShownPrices;
  readonly bus: LogWriterOptions['bus'] & TickSenderOptions['bus'];
  readonly timing: ClusterTiming;
}

/**
 * A term: the time in which a node leads. The prices and records of the host go through it. A term that is over ignores them, so
 * a part of the host that notices the end late does no harm.
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
    // Readers wait for ticks, and each write to a socket takes time: the log is written one turn of the event loop later.
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

  /** The time after which this node must not tick, because another node may have led for long enough; an acknowledged write moves it. */
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

  /** Resolves when the log has all entries that were appended before. @throws LeadershipLost when that is unknown */
  durable(): Promise<void> {
    return this.#writer.durable();
  }

  /** Notes that an asset has another live price than before, or its first. */
  priced(asset: AssetName, price: Price): void {
    if (this.#isOver) return;
    const key = assetKey(asset);
    this.#shown.show(key, price);
    this.#sender.priced(key, price);
  }

  ended(asset: AssetName): void {
    if (this.#isOver) return;
    const key = assetKey(asset);
    this.#shown.show(key, undefined);
    this.#sender.ended(key);
  }

  /** Begins the ticks. Called by the member when the host has reported all live prices: other nodes may receive them. */
  startTicks(): void {
    if (this.#isOver) return;
    this.#shown.keep(this.#sender.live);
    this.#sender.start();
  }

  /**
   * Ends the prices of the term, and writes the remaining entries and then this claim. Called by the member when the host makes
   * no more prices.
   */
  resign(claim: Claim): void {
    this.#isOver = true;
    this.#sender.stop();
    this.#writer.finish(claim);
  }

  /** Ends the term. Called by the member when another node leads, or none. */
  end(): void {
    this.#isOver = true;
    this.#sender.stop();
    this.#writer.stop();
  }

  /** Notes that a record of this epoch has been applied. Called by the member. */
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
