import type { MarkPlace } from '../../src/clock/written_mark.js';
import type { TimeNs } from '../../src/model/time.js';

interface Write {
  readonly name: string;
  readonly timeNs: TimeNs;
  readonly onSettled: (isOnDisk: boolean) => void;
}

/** Marks on a simulated disk. Writes complete immediately, or when the test settles them. */
export class MemoryMarks {
  readonly onDisk = new Map<string, TimeNs>();
  /** True if writes wait for {@link settle}. */
  isSlow = false;
  readonly #writes: Write[] = [];

  readonly placeOf = (name: string | number): MarkPlace => ({
    read: () => this.onDisk.get(String(name)),
    write: (timeNs, onSettled) => {
      this.#writes.push({ name: String(name), timeNs, onSettled });
      if (!this.isSlow) this.settle();
    },
  });

  get waiting(): number {
    return this.#writes.length;
  }

  /** Completes the pending writes, with success or failure. */
  settle(isOnDisk = true): void {
    for (const { name, timeNs, onSettled } of this.#writes.splice(0)) {
      if (isOnDisk) this.onDisk.set(name, timeNs);
      onSettled(isOnDisk);
    }
  }

  /** Simulates a killed process. Some of the pending writes have reached the disk, and no callback runs. */
  crash(isOnDisk: () => boolean): void {
    for (const { name, timeNs } of this.#writes.splice(0)) if (isOnDisk()) this.onDisk.set(name, timeNs);
  }
}
