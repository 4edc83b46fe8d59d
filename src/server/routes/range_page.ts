import type { TimeRange } from '../../log/past/entry_sequence.js';
import { intervalOf } from '../../log/past/last_of_each.js';
import { LostRange } from '../../log/past/lost_range.js';
import { priceOf } from '../../log/past/past_entry.js';
import type { PastReader } from '../../log/past/past_reader.js';
import { fitsDecimal, type PriceType } from '../../log/records/parquet_rows.js';
import type { AssetName } from '../../model/asset_map.js';
import type { PastTurn } from './past_access.js';

/** The requested rows of a range, and the limit of rows in an answer. */
export interface WantedRows {
  readonly name: AssetName;
  readonly range: TimeRange;
  /**
   * The length of the intervals. The answer has only the last aggregate of each interval. `undefined` requests all aggregates.
   */
  readonly everyNs: bigint | undefined;
  readonly rowsMax: number;
  /** True if the answer contains the publishers' inputs. */
  readonly withInputs: boolean;
  /** True if the answer needs {@link RangePage.prices}. */
  readonly isTyped: boolean;
}

/** An answer with a part of the rows. */
export interface RangePage {
  readonly rows: number;
  /** The end of this answer's range. */
  readonly toNs: bigint;
  /** The type of the answer's prices in Parquet, which all aggregates of the range decide, also those that `everyNs` leaves out. */
  readonly prices: PriceType;
  /** The beginning of the next answer's range; `undefined` when the requested range has no more rows. */
  readonly nextNs: bigint | undefined;
  /** The loss at the beginning of the range, if the answer has no rows. */
  readonly lost: LostRange | undefined;
}

/** The number of aggregates that the service reads for an answer, as a multiple of the answer's maximum number of rows. */
const READ_FACTOR = 10;

/**
 * The time after which a page ends with the rows that are counted so far. While many requests share the turns, counting the rows of a
 * full page can take longer than clients wait for the header.
 */
const COUNTING_MS_MAX = 2_000;

/**
 * Decides which part of a range an answer contains. The decision comes first, because the header with the next address comes
 * before the rows. The function also finds damage, with `withInputs` also in the inputs. An answer ends before the damage, so no answer fails
 * in the middle.
 */
export async function rangePage(
  past: Pick<PastReader, 'blocks' | 'gapAt'>,
  { name, range, everyNs, rowsMax, withInputs, isTyped }: WantedRows,
  turn: PastTurn,
  nowMs: () => number = () => performance.now(),
): Promise<RangePage> {
  const endMs = nowMs() + COUNTING_MS_MAX;
  const counter = new RowCounter(everyNs, rowsMax);
  const { fromNs, toNs } = range;
  if (fromNs < toNs && (await turn(() => past.gapAt(name, fromNs))) !== undefined) counter.lose(fromNs);
  const blocks = past.blocks(name, range, withInputs);
  try {
    for (;;) {
      const isDone = await turn(async () => {
        const few = await blocks.nextFew();
        for (const block of few) {
          if (!isTyped && counter.addAll(block.rows)) continue;
          for (const entry of block.bareEntries()) {
            if (entry.kind === 'gap') counter.lose(entry.timeNs);
            else if (entry.kind === 'priced') counter.add(entry.timeNs, isTyped ? priceOf(entry.line) : 0n);
            if (counter.endNs !== undefined) return true;
          }
        }
        return few.length === 0;
      });
      if (isDone) break;
      if (nowMs() > endMs) counter.end();
    }
  } catch (error) {
    if (!(error instanceof LostRange)) throw error;
    const { rows, prices } = counter;
    const { firstNs, lastNs } = error;
    if (rows > 0) return { rows, toNs: firstNs, prices, nextNs: firstNs, lost: undefined };
    return {
      rows,
      toNs: fromNs,
      prices,
      nextNs: lastNs + 1n < toNs ? lastNs + 1n : undefined,
      lost: error,
    };
  }
  const { rows, prices, endNs } = counter;
  const lost = counter.lost?.(toNs);
  return { rows, toNs: lost === undefined ? (endNs ?? toNs) : fromNs, prices, nextNs: endNs, lost };
}

/** Counts the rows of a range until an answer has enough rows. */
class RowCounter {
  rows = 0;
  prices: PriceType = 'decimal';
  /** The time at which the answer ends. */
  endNs: bigint | undefined;
  /** Makes the error for a lost range at the beginning of the answer. */
  lost: ((toNs: bigint) => LostRange) | undefined;
  readonly #everyNs: bigint | undefined;
  #rowsMax: number;
  #read = 0;
  #intervalNs = -1n;

  constructor(everyNs: bigint | undefined, rowsMax: number) {
    this.#everyNs = everyNs;
    this.#rowsMax = rowsMax;
  }

  add(timeNs: bigint, price: bigint): void {
    if (this.lost !== undefined) {
      this.endNs = timeNs;
      return;
    }
    this.#read++;
    const intervalNs = intervalOf(timeNs, this.#everyNs);
    if (intervalNs !== this.#intervalNs) {
      this.#intervalNs = intervalNs;
      if (this.rows >= this.#rowsMax || this.#read > READ_FACTOR * this.#rowsMax) {
        this.endNs = intervalNs;
        return;
      }
      this.rows++;
    }
    if (!fitsDecimal(price)) this.prices = 'text';
  }

  /**
   * Adds rows whose times do not matter. @returns false if they may matter
   */
  addAll(rows: number | undefined): boolean {
    const hasTimes = rows === undefined || this.#everyNs !== undefined || this.lost !== undefined;
    if (hasTimes || this.rows + rows > this.#rowsMax) return false;
    this.#read += rows;
    this.rows += rows;
    return true;
  }

  /** Ends the answer with the next interval. */
  end(): void {
    this.#rowsMax = Math.max(1, this.rows);
  }

  /** Records that the rows from a time to the next row are lost. */
  lose(fromNs: bigint): void {
    if (this.rows > 0) this.endNs = fromNs;
    else this.lost ??= (toNs) => new LostRange({ firstNs: fromNs, lastNs: (this.endNs ?? toNs) - 1n });
  }
}
