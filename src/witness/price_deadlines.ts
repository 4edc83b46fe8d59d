import type { Evidence } from '../client/verify/evidence_file.js';
import type { AuditedPrice } from './received_prices.js';

/** A remarkable state of a log that proves nothing by itself. */
export interface AuditFinding {
  readonly kind: 'no newer checkpoint' | 'smaller checkpoint' | 'files withheld' | 'prices skipped';
  readonly text: string;
}

/** The delay after which a log is late, on the monotonic clock. */
export interface LogDelay {
  readonly steadyMs: () => number;
  /** The longest time until a checkpoint covers a price, as the service promises it. */
  readonly promisedMs: number;
  /** The time that the audit allows in addition. */
  readonly slackMs: number;
}

/** The number of consecutive attempts after which files are withheld. Before, the answering node may lag. */
const WITHHELD_ATTEMPTS = 3;

/** The deadlines of a log: when a newer checkpoint, the files of a checkpoint and each received price must be there. */
export class PriceDeadlines {
  readonly #delay: LogDelay;
  readonly #onFinding: (finding: AuditFinding) => void;
  #largest = 0n;
  /** The time at which the largest checkpoint was first seen; before the first one, the time of the first look. */
  #largestMs: number | undefined;
  #withheld = 0;
  #lastHeardMs = Number.NEGATIVE_INFINITY;

  constructor(delay: LogDelay, onFinding: (finding: AuditFinding) => void) {
    this.#delay = delay;
    this.#onFinding = onFinding;
  }

  /** Records that a price was received now. @returns the time */
  heard(): number {
    this.#lastHeardMs = this.#delay.steadyMs();
    return this.#lastHeardMs;
  }

  /** Records a checkpoint. @param lookMs the time at which the audit asked for it @param checkedSize the size that the audit has checked */
  saw(size: bigint, lookMs: number, checkedSize: bigint): void {
    if (size > this.#largest || this.#largestMs === undefined) {
      this.#largest = size;
      this.#largestMs = lookMs;
    }
    if (size < checkedSize)
      this.#onFinding({
        kind: 'smaller checkpoint',
        text: `the log serves a checkpoint of ${size} entries, which is smaller than before: ${checkedSize}`,
      });
    this.#requireNewer(lookMs, '');
  }

  /** Records that the log's files up to its checkpoint were read. */
  read(): void {
    this.#withheld = 0;
  }

  /** Records a look that failed. @param size the size of the checkpoint whose files could not be read; absent without a checkpoint */
  failed(reason: string, lookMs: number, size: bigint | undefined): void {
    this.#largestMs ??= lookMs;
    if (size === undefined) {
      this.#requireNewer(lookMs, `: ${reason}`);
      return;
    }
    this.#withheld += 1;
    if (this.#withheld < WITHHELD_ATTEMPTS) return;
    const text = `the log signs a checkpoint of ${size} entries, and withholds files of it: ${reason}`;
    this.#onFinding({ kind: 'files withheld', text });
  }

  /** Records the number of prices that the audit did not take. */
  skipped(count: number): void {
    if (count === 0) return;
    const text = `${count} received prices were not compared: too many wait for the log`;
    this.#onFinding({ kind: 'prices skipped', text });
  }

  /**
   * Returns the first price whose deadline had passed when the audit looked, and that no checkpoint covers.
   * @param coveredNs the time up to which the read checkpoints cover prices
   * @param isRead false when the look failed. A price is then late only if a later price shows that the service can be reached
   */
  late(
    open: readonly AuditedPrice[],
    coveredNs: bigint,
    lookMs: number,
    isRead: boolean,
  ): AuditedPrice | undefined {
    const { promisedMs, slackMs } = this.#delay;
    const dueMs =
      Math.min(lookMs, isRead ? Number.POSITIVE_INFINITY : this.#lastHeardMs) - promisedMs - slackMs;
    return open.find(({ heardMs, timeNs }) => heardMs < dueMs && timeNs >= coveredNs);
  }

  /** Makes the evidence about a late price. @param note the newest checkpoint; absent without one */
  evidenceOf({ text, heardMs }: AuditedPrice, note: string | undefined, lookMs: number): Evidence {
    const { promisedMs, slackMs } = this.#delay;
    const found =
      `no checkpoint covers a price that was received ${inSeconds(lookMs - heardMs)} s ago; the service promises ` +
      `${inSeconds(promisedMs)} s, and the audit allows ${inSeconds(slackMs)} s more`;
    return { kind: 'overdue', price: text, checkpoint: note ?? '', found };
  }

  #requireNewer(lookMs: number, reason: string): void {
    const { promisedMs, slackMs } = this.#delay;
    const waitedMs = lookMs - this.#largestMs!;
    if (waitedMs <= promisedMs + slackMs) return;
    const text = `no newer checkpoint for ${inSeconds(waitedMs)} s; the newest has ${this.#largest} entries${reason}`;
    this.#onFinding({ kind: 'no newer checkpoint', text });
  }
}

function inSeconds(ms: number): number {
  return Math.round(ms / 1_000);
}
