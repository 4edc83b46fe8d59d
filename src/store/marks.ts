import type { TimeNs } from '../model/time.js';
import type { Journal } from './journal.js';
import type { Table } from './table.js';

/** Times on disk. The service writes a mark to disk before it uses times up to the mark. The next start reads the mark. */
export interface StoredMarks {
  /** @throws DamagedRecord when a record on disk is damaged */
  read(kind: string, number: number): TimeNs | undefined;
  /** @param onSettled called once, with true if this mark has been flushed to the disk */
  write(kind: string, number: number, timeNs: TimeNs, onSettled: (isOnDisk: boolean) => void): void;
  /**
   * Counts this start of a service on the data folder. Resolves with the number of the start when the number is on disk, or when the
   * write has failed.
   */
  countStart(): Promise<number>;
}

const STARTS = ['starts', 0] as const;

export function openMarks(journal: Journal, table: Table<TimeNs>): StoredMarks {
  const marks: StoredMarks = {
    read: (kind, number) => table.get([kind, number]),
    write(kind, number, timeNs, onSettled) {
      table.put([kind, number], timeNs);
      journal.durable().then(
        () => onSettled(true),
        () => onSettled(false),
      );
    },
    countStart() {
      const number = (marks.read(...STARTS) ?? 0n) + 1n;
      return new Promise((resolve) =>
        marks.write(...STARTS, number as TimeNs, () => resolve(Number(number))),
      );
    },
  };
  return marks;
}

/** Encodes a mark as its record, a big-endian int64. */
export function encodeMark(timeNs: TimeNs): Uint8Array {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigInt64BE(timeNs);
  return bytes;
}

export function decodeMark(payload: Uint8Array): TimeNs {
  return Buffer.from(payload.buffer, payload.byteOffset, payload.length).readBigInt64BE() as TimeNs;
}
