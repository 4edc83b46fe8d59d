import { setTimeout as wait } from 'node:timers/promises';
import type { PricedEntry } from '../../past/kept_entry.js';
import { LastOfEach } from '../../past/last_of_each.js';
import type { PastBlock } from '../../past/past_blocks.js';
import { ROWS_AT_ONCE_MAX } from '../access/caller_budgets.js';
import type { PayRows } from '../rest/route_result.js';

/** The size of the parts of an answer. A client that stops reading holds about two parts in memory. */
const PART_BYTES = 64 * 1024;
/**
 * The first and the longest time until a used-up budget is checked again. Many readers may wait at the same time, so the time doubles with
 * each check.
 */
const PAY_POLL_MS_MIN = 10;
const PAY_POLL_MS_MAX = 160;

/** Writes rows in a format. */
export interface RowWriter {
  /** Adds a row. */
  add(row: PricedEntry): void;
  /** The approximate number of bytes that {@link take} would return. */
  readonly bytes: number;
  /** Returns the text or bytes since the last call. */
  take(): Uint8Array;
  /** Returns the remaining bytes. */
  end(): Uint8Array;
}

/** Writes whole blocks as they are on disk, one by one. The caller pays for all entries of a block. */
export async function* blockParts({
  blocks,
  turn,
  pay,
}: Pick<RowSource, 'turn' | 'pay'> & {
  readonly blocks: AsyncIterable<PastBlock>;
}): AsyncIterable<Uint8Array> {
  const source = blocks[Symbol.asyncIterator]();
  for (;;) {
    const block = await turn(async () => {
      const { value } = await source.next();
      return value && { rows: value.count, bytes: value.sent() };
    });
    if (block === undefined) return;
    await paid(pay, block.rows);
    yield block.bytes;
  }
}

export interface RowSource {
  readonly blocks: AsyncIterable<Pick<PastBlock, 'entries'>>;
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
  writer: RowWriter,
): AsyncIterable<Uint8Array> {
  const last = new LastOfEach(everyNs);
  const source = blocks[Symbol.asyncIterator]();
  let rows: Iterator<PricedEntry, undefined> | undefined;
  let rowsRead = 0;

  /** Writes rows until a part is full. @returns false after the last row */
  async function fill(): Promise<boolean> {
    while (rowsRead < ROWS_AT_ONCE_MAX && writer.bytes < PART_BYTES) {
      rows ??= await nextBlock();
      if (rows === undefined) return false;
      const { value: row } = rows.next();
      if (row === undefined) {
        rows = undefined;
        continue;
      }
      rowsRead++;
      const chosen = last.add(row);
      if (chosen !== undefined) writer.add(chosen);
    }
    return true;
  }

  async function nextBlock(): Promise<Iterator<PricedEntry, undefined> | undefined> {
    const { value: block } = await source.next();
    return block && rowsOf(block);
  }

  for (let hasMore = true; hasMore; ) {
    hasMore = await turn(fill);
    await paid(pay, rowsRead);
    rowsRead = 0;
    if (hasMore) {
      const part = writer.take();
      if (part.length > 0) yield part;
    }
  }
  const end = last.end();
  if (end !== undefined) writer.add(end);
  const rest = writer.end();
  if (rest.length > 0) yield rest;
}

function* rowsOf(block: Pick<PastBlock, 'entries'>): Iterator<PricedEntry, undefined> {
  for (const entry of block.entries()) if (entry.kind === 'priced') yield entry;
  return undefined;
}

/** Waits until the caller's budget has paid for rows. */
async function paid(pay: PayRows, rows: number): Promise<void> {
  for (let ms = PAY_POLL_MS_MIN; !pay(rows); ms = Math.min(2 * ms, PAY_POLL_MS_MAX)) await wait(ms);
}
