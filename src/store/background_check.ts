import { setTimeout } from 'node:timers/promises';
import type { OpenTables } from './open_tables.js';
import type { Key, StoredRecord, Table } from './table.js';

/** The largest number of records of a small folder, which is checked before its use. */
export const SMALL_RECORDS = 8_000;
/** The largest time of the check before the use of a small folder. */
const FIRST_MS = 50;
/** The number of records between two reads of the clock. */
const RECORDS_AT_ONCE = 100;
/** The time of a turn of the check on the thread. */
const TURN_MS = 1;
/** The share of the thread's time that the turns take. */
const SHARE = 0.1;

/** A check of all records of a folder. */
export interface RecordCheck {
  /** Resolves when all records are checked, or when the check was stopped. */
  readonly ended: Promise<void>;
  stop(): void;
}

/**
 * Checks the checksum of every record. Without this check, a record with a damaged key would stay undetected: a read would not find
 * the record, and would return nothing or an older record. The check of a large folder takes seconds: 6 µs a record. So this check
 * runs in short turns while the service works.
 * @param onDamage called when the first damaged record is found, with the reason; the check then ends
 * @param laterMs the time until the first turn for a large folder
 */
export function checkRecords(
  tables: OpenTables,
  onDamage: (reason: string) => void,
  laterMs = 0,
): RecordCheck {
  const all: readonly Table<unknown>[] = Object.values(tables);
  const isSmall = all.reduce((sum, { recordCount }) => sum + recordCount, 0) <= SMALL_RECORDS;
  const left = damageOfEach(all);
  let isStopped = false;
  const isDone = () => {
    const { done, value } = left.next();
    if (value !== undefined) onDamage(value);
    return done === true || value !== undefined;
  };
  const endsWithin = (ms: number): boolean => {
    const endMs = performance.now() + ms;
    while (!isDone()) if (performance.now() >= endMs) return false;
    return true;
  };
  async function inTurns(): Promise<void> {
    if (isSmall && endsWithin(FIRST_MS)) return;
    await setTimeout(laterMs, undefined, { ref: false });
    await new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        if (!isStopped && !endsWithin(TURN_MS)) return;
        clearInterval(timer);
        resolve();
      }, TURN_MS / SHARE).unref();
    });
  }
  return {
    ended: inTurns(),
    stop() {
      isStopped = true;
    },
  };
}

/** Checks a few records at a time. Yields the reason of a damaged record among them, or `undefined`. */
function* damageOfEach(tables: readonly Table<unknown>[]): Generator<string | undefined, undefined> {
  for (const table of tables) {
    let last: Key | undefined;
    let records: readonly StoredRecord[];
    do {
      // Each part is a new read, because a long read would keep lmdb from reusing free pages.
      records = [...table.recordsOnDisk({ after: last, limit: RECORDS_AT_ONCE })];
      last = records.at(-1)?.key;
      yield records.find(({ damage }) => damage !== undefined)?.damage;
    } while (records.length > 0);
  }
  return undefined;
}
