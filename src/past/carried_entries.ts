import { CHECKPOINT_S } from '../model/node_list.js';
import { NS_PER_SECOND } from '../model/time.js';
import type { KeptEntry } from './kept_entry.js';

/** Returns the entry as a carried copy. */
export function carried(entry: KeptEntry): KeptEntry {
  return entry.kind === 'priced'
    ? { ...entry, aggregate: entry.aggregate, isCarried: true }
    : { ...entry, isCarried: true };
}

/** The smallest age of an aggregate that a log repeats. */
const REPEATED_NS_MIN = BigInt(CHECKPOINT_S) * NS_PER_SECOND;

/**
 * Finds the entries that the log of a cluster repeats for nodes that joined late. Signed times grow along the log, so an entry with an
 * earlier time is a repetition. The past has no other entries of that time, so that time is before the complete part of the past.
 */
export class RepeatedEntries {
  #latestNs = 0n;

  /**
   * Notes the next entry of the log.
   * @returns `repeated`, or `after repeated` when all earlier entries may be repeated, because the log begins with them
   */
  note({ timeNs }: KeptEntry): 'next' | 'repeated' | 'after repeated' {
    if (timeNs < this.#latestNs) return 'repeated';
    const isLater = timeNs > this.#latestNs + REPEATED_NS_MIN;
    this.#latestNs = timeNs;
    return isLater ? 'after repeated' : 'next';
  }
}
