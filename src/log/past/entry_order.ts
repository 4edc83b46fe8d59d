import { CHECKPOINT_S } from '../../model/node_list.js';
import { NS_PER_SECOND } from '../../model/time.js';
import { isLoss, readEntry, type WrittenEntry } from './past_entry.js';

/** Times between which entries of all assets are lost. Both times are included. */
export interface Lost {
  readonly firstNs: bigint;
  readonly lastNs: bigint;
  /** The damage that lost the entries, in words; `undefined` if the service never received them. */
  readonly damage?: string | undefined;
}

/** An entry of the log, as the past has it. */
export interface OrderedEntry {
  readonly entry: WrittenEntry;
  readonly isCarried: boolean;
  /** The loss before this entry. */
  readonly lost?: Lost | undefined;
  /** True when all entries before this one are carried copies, because the log of a cluster begins with repeated ones. */
  readonly isBeginning: boolean;
}

/** The smallest age of an aggregate that the log of a cluster repeats. */
const REPEATED_NS_MIN = BigInt(CHECKPOINT_S) * NS_PER_SECOND;

export interface EntryOrderOptions {
  /** True when entries come from the log of a cluster, which repeats some of them for nodes that join late. */
  readonly hasRepeated: boolean;
  /** The latest time of the entries before; 0 without entries. */
  readonly latestNs: bigint;
  /** The time from which the entries before the first entry are lost. */
  readonly lostFromNs: bigint | undefined;
}

/**
 * Reads the entries of the log in order, and finds the losses between them. Signed times grow along the log of a cluster, so an entry with an
 * earlier time is a repetition there. The past has no other entries of that time, so that time is before the complete part of the past.
 */
export class EntryOrder {
  readonly #hasRepeated: boolean;
  readonly #isNew: boolean;
  #latestNs: bigint;
  #lostFromNs: bigint | undefined;
  #damage: string | undefined;

  constructor({ hasRepeated, latestNs, lostFromNs }: EntryOrderOptions) {
    this.#hasRepeated = hasRepeated;
    this.#isNew = latestNs === 0n;
    this.#latestNs = latestNs;
    this.#lostFromNs = lostFromNs;
  }

  get latestNs(): bigint {
    return this.#latestNs;
  }

  /** The beginning of a loss that has no end yet. */
  get lostFromNs(): bigint | undefined {
    return this.#lostFromNs;
  }

  /** Notes that entries are lost from here to the next aggregate. Before the first entry of a past, there is nothing to lose. */
  lose(damage?: string): void {
    if (this.#latestNs === 0n) return;
    this.#lostFromNs ??= this.#latestNs + 1n;
    this.#damage ??= damage;
  }

  /** @returns `undefined` for a line that is no entry of the past */
  next(text: string): OrderedEntry | undefined {
    const entry = readEntry(text);
    if (entry === undefined) {
      if (isLoss(text)) this.lose();
      return undefined;
    }
    const { timeNs } = entry;
    const isLater = timeNs > this.#latestNs;
    const isBeginning = this.#hasRepeated && this.#isNew && timeNs > this.#latestNs + REPEATED_NS_MIN;
    const ordered = {
      entry,
      isCarried: this.#hasRepeated && timeNs < this.#latestNs,
      isBeginning,
      // The end of a price after a loss follows from inputs before it, so it says nothing about the lost time.
      lost: isLater && entry.kind === 'priced' ? this.#takeLost(timeNs - 1n) : undefined,
    };
    if (isLater) this.#latestNs = timeNs;
    return ordered;
  }

  #takeLost(lastNs: bigint): Lost | undefined {
    const [firstNs, damage] = [this.#lostFromNs, this.#damage];
    this.#lostFromNs = undefined;
    this.#damage = undefined;
    return firstNs === undefined || firstNs > lastNs ? undefined : { firstNs, lastNs, damage };
  }
}
