import type { Checkpoint } from '../../tlog/tree_checkpoint.js';
import type { Evidence } from './evidence_file.js';
import { forkEvidence, type SignedHead } from './fork_evidence.js';
import type { ServedLog } from './served_log.js';

/** The checkpoints of a service's log that a client has read. */
export class CheckpointHistory {
  readonly #steadyMs: () => number;
  #newest: (SignedHead & { readonly head: Checkpoint }) | undefined;
  /** The time at which the newest checkpoint was first read. */
  #newestMs = 0;
  #smallerText: string | undefined;
  #isSmallerTaken = false;

  /** @param steadyMs a monotonic clock */
  constructor(steadyMs: () => number) {
    this.#steadyMs = steadyMs;
  }

  /**
   * Compares a checked checkpoint with the newest one before it.
   * @returns evidence when the two are inconsistent
   * @throws Error when the log does not serve the tiles of the larger checkpoint
   */
  async compare(note: string, head: Checkpoint, log: ServedLog): Promise<Evidence | undefined> {
    const before = this.#newest;
    // A log that goes on under another name has another tree.
    if (before?.head.origin !== head.origin) {
      this.#add(note, head);
      return undefined;
    }
    if (head.size < before.head.size)
      this.#smallerText = `the log serves a checkpoint of ${head.size} entries, which is smaller than before: ${before.head.size}`;
    if (note === before.note) return undefined;
    const read = forkEvidence(before, { note, head }, (nodes, size) => log.nodes(nodes, size));
    const evidence = await read.catch((error: Error) => {
      throw new Error(
        `the log signs a checkpoint of ${head.size} entries, and withholds files: ${error.message}`,
      );
    });
    if (head.size > before.head.size) this.#add(note, head);
    return evidence;
  }

  /** Returns the sentence about a smaller checkpoint, once. */
  takeSmaller(): string | undefined {
    if (this.#isSmallerTaken || this.#smallerText === undefined) return undefined;
    this.#isSmallerTaken = true;
    return this.#smallerText;
  }

  /** Returns the sentence about the newest checkpoint when it is older than this time; otherwise an empty text. */
  staleText(lateMs: number): string {
    const waitedMs = this.#steadyMs() - this.#newestMs;
    if (this.#newest === undefined || waitedMs <= lateMs) return '';
    return `, and no newer checkpoint came for ${Math.round(waitedMs / 1_000)} s: the newest has ${this.#newest.head.size} entries`;
  }

  #add(note: string, head: Checkpoint): void {
    this.#newest = { note, head };
    this.#newestMs = this.#steadyMs();
  }
}
