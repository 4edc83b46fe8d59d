import type { EntryBlock } from '../../log/past/entry_sequence.js';
import { LastOfEach } from '../../log/past/last_of_each.js';
import type { LineEntry } from '../../log/past/past_entry.js';
import type { RowWriter } from '../../log/records/row_writer.js';
import { ROWS_AT_ONCE_MAX } from '../access/caller_budgets.js';
import type { PayRows } from '../rest/route_result.js';

/** The size of the parts of an answer. A client that stops reading holds about two parts in memory. */
const PART_BYTES = 24 * 1024;
/** The time for which a waiting answer holds its decoded block. Reading the block again takes less than a millisecond. */
const HELD_MS = 200;
export type BlockEntries = Pick<EntryBlock, 'entries'>;

/** Blocks of rows. Without `continueAt`, the rows are in memory anyway. */
export interface RowBlocks extends AsyncIterable<BlockEntries> {
  /** Lets the iterator continue at a time. */
  continueAt?(fromNs: bigint): void;
}

export interface RowSource {
  readonly blocks: RowBlocks;
  readonly everyNs: bigint | undefined;
  /** Executes work in turn with other requests. */
  readonly turn: <T>(work: () => Promise<T>) => Promise<T>;
  readonly pay: PayRows;
}

/**
 * Writes rows in parts. The writer makes a part when the client has read the earlier parts, so a client that stops reading causes
 * no work. The caller pays for rows before the service sends their part.
 */
export async function* rowParts(
  { blocks, everyNs, turn, pay }: RowSource,
  writer: RowWriter<LineEntry>,
): AsyncIterable<Uint8Array> {
  const last = new LastOfEach(everyNs);
  const rows = new HeldRows(blocks);
  let rowsRead = 0;

  /** Writes rows until a part is full. @returns false after the last row */
  async function fill(): Promise<boolean> {
    rows.hold();
    while (rowsRead < ROWS_AT_ONCE_MAX && writer.bytes < PART_BYTES) {
      const row = await rows.next();
      if (row === undefined) return false;
      rowsRead++;
      const chosen = last.add(row);
      if (chosen !== undefined) writer.add(chosen);
    }
    rows.releaseLater();
    return true;
  }

  try {
    for (let hasMore = true; hasMore; ) {
      hasMore = await turn(fill);
      await pay(rowsRead);
      rowsRead = 0;
      if (hasMore) yield* slices(writer.take());
    }
    const end = last.end();
    if (end !== undefined) writer.add(end);
    yield* slices(writer.end());
  } finally {
    rows.hold();
  }
}

/**
 * Cuts long bytes, such as a row group of Parquet, so that few of them wait in the response. The last part has the rest: a short part of its own
 * would cost as much work of the thread that compresses as a long one.
 */
function* slices(bytes: Uint8Array): Iterable<Uint8Array> {
  let at = 0;
  for (; bytes.length - at >= 2 * PART_BYTES; at += PART_BYTES) yield bytes.subarray(at, at + PART_BYTES);
  if (at < bytes.length) yield bytes.subarray(at);
}

/**
 * The rows of blocks. An answer may wait for its client or for its turn. If it waits longer than {@link HELD_MS}, it holds no decoded
 * block, and reads from its last row on when it continues.
 */
class HeldRows {
  readonly #blocks: RowBlocks;
  readonly #source: AsyncIterator<BlockEntries>;
  #rows: Iterator<LineEntry, undefined> | undefined;
  #lastNs = 0n;
  #timer: NodeJS.Timeout | undefined;

  constructor(blocks: RowBlocks) {
    this.#blocks = blocks;
    this.#source = blocks[Symbol.asyncIterator]();
  }

  async next(): Promise<LineEntry | undefined> {
    for (;;) {
      if (this.#rows === undefined) {
        const { value: block } = await this.#source.next();
        if (block === undefined) return undefined;
        this.#rows = rowsOf(block);
      }
      const { value: row } = this.#rows.next();
      if (row !== undefined) {
        this.#lastNs = row.timeNs;
        return row;
      }
      this.#rows = undefined;
    }
  }

  /** Ends the effect of {@link releaseLater}. */
  hold(): void {
    clearTimeout(this.#timer);
  }

  releaseLater(): void {
    if (this.#blocks.continueAt === undefined || this.#rows === undefined) return;
    this.#timer = setTimeout(() => {
      this.#rows = undefined;
      this.#blocks.continueAt!(this.#lastNs + 1n);
    }, HELD_MS).unref();
  }
}

function* rowsOf(block: BlockEntries): Iterator<LineEntry, undefined> {
  for (const entry of block.entries()) if (entry.kind === 'priced') yield entry;
  return undefined;
}
