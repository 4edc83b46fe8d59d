import type { TimeNs } from '../model/time.js';
import type { Journal } from './journal.js';
import type { Tables } from './tables.js';

/** Times on disk that are written before times up to them are used, and read by the next start. */
export interface Marks {
  /** @throws DamagedRecord when the disk no longer holds what was written. */
  read(kind: string, number: number): TimeNs | undefined;
  /** @param onSettled told once whether this mark has been flushed to the disk */
  write(kind: string, number: number, timeNs: TimeNs, onSettled: (isOnDisk: boolean) => void): void;
}

export function openMarks(journal: Journal, tables: Tables): Marks {
  return {
    read: (kind, number) => tables.marks.get([kind, number]),
    write(kind, number, timeNs, onSettled) {
      tables.marks.put([kind, number], timeNs);
      journal.durable().then(
        () => onSettled(true),
        () => onSettled(false),
      );
    },
  };
}

/** A mark as its record: int64, big-endian. */
export function encodeMark(timeNs: TimeNs): Uint8Array {
  const bytes = Buffer.allocUnsafe(8);
  bytes.writeBigInt64BE(timeNs);
  return bytes;
}

export function decodeMark(payload: Uint8Array): TimeNs {
  return Buffer.from(payload.buffer, payload.byteOffset, payload.length).readBigInt64BE() as TimeNs;
}
