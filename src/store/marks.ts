import type { TimeNs } from '../model/time.js';
import type { Journal } from './journal.js';
import type { Table } from './table.js';

/** Times on disk that are written before times up to them are used, and read by the next start. */
export interface Marks {
  /** @throws DamagedRecord when the disk no longer holds what was written. */
  read(kind: string, number: number): TimeNs | undefined;
  /** @param onSettled called once with whether this mark has been flushed to the disk */
  write(kind: string, number: number, timeNs: TimeNs, onSettled: (isOnDisk: boolean) => void): void;
  /** Counts this start of a service on the data folder; resolves with its number when that is on disk, or cannot be written. */
  countStart(): Promise<number>;
}

const STARTS = ['starts', 0] as const;

export function openMarks(journal: Journal, table: Table<TimeNs>): Marks {
  const marks: Marks = {
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

const LOG = 'log';

/** A record of a cluster's log. */
export interface LogPlace {
  readonly sequence: number;
  /** A process in 16 hex digits, and its count of records: `0123456789abcdef-1`. Empty when it is not known. */
  readonly id: string;
}

/** @throws DamagedRecord when the disk no longer holds what was written. */
export function readLogPlace(table: Table<TimeNs>): LogPlace | undefined {
  const [sequence, run, count] = [0, 1, 2].map((part) => table.get([LOG, part]));
  if (sequence === undefined || run === undefined || count === undefined) return undefined;
  const digits = BigInt.asUintN(64, run).toString(16).padStart(16, '0');
  return { sequence: Number(sequence), id: count === 0n ? '' : `${digits}-${count}` };
}

/** An ID of another form is not kept. */
export function writeLogPlace(table: Table<TimeNs>, { sequence, id }: LogPlace): void {
  const [, digits = '0', count = '0'] = /^([0-9a-f]{16})-(\d{1,15})$/.exec(id) ?? [];
  const parts = [BigInt(sequence), BigInt.asIntN(64, BigInt(`0x${digits}`)), BigInt(count)];
  for (const [part, value] of parts.entries()) table.put([LOG, part], value as TimeNs);
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
