import { parseTimeNs, type TimeNs } from '../../model/time.js';
import type { EntryState } from './entry_state.js';

/** Times on disk. The service writes a mark to disk before it uses times up to the mark. The next start reads the mark. */
export interface StoredMarks {
  read(kind: string, number: number): TimeNs | undefined;
  /** @param onSettled called once, with true if this mark has been flushed to the disk */
  write(kind: string, number: number, timeNs: TimeNs, onSettled: (isOnDisk: boolean) => void): void;
  /** Returns the text of a mark that is not a time. */
  text(kind: string, number: number): string | undefined;
  /** Changes the text of a mark; `undefined` removes the mark. The next commit writes it. */
  put(kind: string, number: number, text: string | undefined): void;
  /**
   * Counts this start of a service on the data folder. Resolves with the number of the start when the number is on disk, or when the
   * write has failed.
   */
  countStart(): Promise<number>;
}

const STARTS = ['starts', 0] as const;

/**
 * @param put changes a mark for the next commit
 * @param durable resolves when the next commit is on disk
 */
export function openMarks(
  state: Pick<EntryState, 'mark'>,
  put: StoredMarks['put'],
  durable: () => Promise<void>,
): StoredMarks {
  const marks: StoredMarks = {
    read(kind, number) {
      const text = state.mark(kind, number);
      return text === undefined ? undefined : parseTimeNs(text);
    },
    write(kind, number, timeNs, onSettled) {
      put(kind, number, String(timeNs));
      durable().then(
        () => onSettled(true),
        () => onSettled(false),
      );
    },
    text: (kind, number) => state.mark(kind, number),
    put,
    countStart() {
      const number = (marks.read(...STARTS) ?? 0n) + 1n;
      return new Promise((resolve) =>
        marks.write(...STARTS, number as TimeNs, () => resolve(Number(number))),
      );
    },
  };
  return marks;
}
