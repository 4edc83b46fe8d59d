import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { GROUP_ROWS } from '../exported_rows.js';
import type { BlockRows, BlockRowsOptions } from './block_rows.js';
import type { PackedBlock } from './packed_block.js';

/** The largest number of threads. A service cannot send blocks faster than these threads verify. */
const THREADS_MAX = 6;
/** The number of groups for each thread: one in work, and one that waits. */
const GROUPS_AHEAD = 2;

/** The beginning of Node's flags for a CPU profile, which is only whole with the profiles of the threads. */
const PROFILE_FLAG = '--cpu-prof';

/** Threads that verify blocks and encode their aggregates. The calling thread only passes bytes on. */
export class ExportPool {
  readonly #threads = Math.min(THREADS_MAX, availableParallelism());
  readonly #piscina: Piscina<readonly PackedBlock[], BlockRows>;
  readonly #ahead: Promise<BlockRows>[] = [];

  constructor(options: BlockRowsOptions) {
    this.#piscina = new Piscina({
      filename: fileURLToPath(new URL('./export_thread.js', import.meta.url)),
      minThreads: this.#threads,
      maxThreads: this.#threads,
      // Other flags of this process, such as a test runner's loaders, stay out of the threads.
      execArgv: process.execArgv.filter((flag) => flag.startsWith(PROFILE_FLAG)),
      recordTiming: false,
      workerData: options,
    });
  }

  /**
   * Returns the rows of all blocks, in groups and in order.
   * @throws an error with the message of NotVerified, and the errors of the blocks' source
   */
  async *rowsOf(blocks: AsyncIterable<PackedBlock>): AsyncGenerator<BlockRows> {
    let group: PackedBlock[] = [];
    let rows = 0;
    const give = () => {
      const encoded = this.#encode(group);
      // The error is thrown when the caller reaches these rows.
      encoded.catch(() => {});
      this.#ahead.push(encoded);
      group = [];
      rows = 0;
    };
    for await (const block of blocks) {
      group.push(block);
      rows += block.rows;
      if (rows < GROUP_ROWS) continue;
      give();
      if (this.#ahead.length >= GROUPS_AHEAD * this.#threads) yield await this.#ahead.shift()!;
    }
    if (rows > 0) give();
    while (this.#ahead.length > 0) yield await this.#ahead.shift()!;
  }

  /** Ends the threads after their work, because ending a thread inside native code aborts the process. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#ahead);
    await this.#piscina.destroy();
  }

  /** Sends a group to a thread. All blocks of the group share one buffer, which moves to the thread. */
  #encode(blocks: readonly PackedBlock[]): Promise<BlockRows> {
    const all = new Uint8Array(blocks.reduce((sum, { bytes }) => sum + bytes.length, 0));
    let at = 0;
    const moved = blocks.map(({ bytes, ...range }) => {
      all.set(bytes, at);
      at += bytes.length;
      return { ...range, bytes: all.subarray(at - bytes.length, at) };
    });
    return this.#piscina.run(moved, { name: 'encode', transferList: [all.buffer] });
  }
}
