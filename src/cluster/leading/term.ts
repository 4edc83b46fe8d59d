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
  /** The prices that readers of this node see. */
  readonly shown: ShownPrices;
  readonly bus: LogWriterOptions['bus'] & TickSenderOptions['bus'];
  readonly timing: ClusterTiming;
}

/**
 * The period in which a node leads. All prices and records of the host pass through the term. A term that has ended ignores
 * prices and records. So it is harmless if a part of the host learns of the end late.
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
    // The log is written one turn of the event loop later than the ticks. Ticks come first, because readers wait for them and
    // each write to a socket takes time.
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

  /**
   * The time after which this node must not send ticks, because another node may lead. Each acknowledged write extends this time.
   */
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
   * @throws LeadershipLost when this is unknown
   */
  durable(): Promise<void> {
    return this.#writer.durable();
  }

  /** Notes the asset's first live price, or a change of its live price. */
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

  /** Begins the ticks, so that other nodes can receive prices. Called by the member after the host has reported all live prices. */
  startTicks(): void {
    if (this.#isOver) return;
    this.#shown.keep(this.#sender.live);
    this.#sender.start();
  }

  /**
   * Ends the prices of the term. Then writes the remaining entries, followed by this claim. Called by the member when the host
   * has stopped making prices.
   */
  resign(claim: Claim): void {
    this.#isOver = true;
    this.#sender.stop();
    this.#writer.finish(claim);
  }

  /** Ends the term. Called by the member when another node leads, or when no node leads. */
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
