import type { Evidence } from '../../client/verify/evidence_file.js';
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
  /** The number of entries that the audit still has to read, before it has read all for the first time; then 0. Absent before a checkpoint. */
  #behind: bigint | undefined;
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
    this.#behind ??= size > checkedSize ? size - checkedSize : 0n;
    this.#requireNewer(lookMs, '');
  }

  /** @throws Error when a look has lasted for the promised delay and the slack: the next look judges how far it came */
  requireTime(lookMs: number): void {
    const { steadyMs, promisedMs, slackMs } = this.#delay;
    if (steadyMs() - lookMs <= promisedMs + slackMs) return;
    throw new Error(`reading the log has taken more than ${inSeconds(promisedMs + slackMs)} s`);
  }

  /** Records that the log's files up to its checkpoint were read. */
  read(): void {
    this.#withheld = 0;
    this.#behind = 0n;
  }

  /**
   * Records a look that failed. A new audit reads a long log in several looks, because the service limits its requests: a look that
   * comes nearer to the checkpoint is no fault of the log.
   * @param size the size of the checkpoint whose files could not be read; absent without a checkpoint
   * @returns whether a price can be late, although the audit has not read all
   */
  failed(reason: string, lookMs: number, size: bigint | undefined, checkedSize: bigint): boolean {
    this.#largestMs ??= lookMs;
    const behind = size === undefined ? undefined : size - checkedSize;
    if (behind !== undefined && behind < this.#behind!) {
      this.#behind = behind;
      this.#withheld = 0;
      return false;
    }
    this.#withheld += 1;
    const isStuck = this.#withheld >= WITHHELD_ATTEMPTS;
    if (size === undefined) this.#requireNewer(lookMs, `: ${reason}`);
    else if (isStuck) {
      const text = `the log signs a checkpoint of ${size} entries, and withholds files of it: ${reason}`;
      this.#onFinding({ kind: 'files withheld', text });
    }
    return isStuck || this.#behind === 0n;
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
