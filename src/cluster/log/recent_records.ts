import { type Bus, LOG_START, type LogPosition, type LogRecord } from '../bus.js';

/** The largest size of the records that a node keeps to bring them back. */
export const RECENT_BYTES_MAX = 32 * 1024 * 1024;

/** The newest applied records: message servers that lost the end of the log receive them again. */
export class RecentRecords {
  readonly #bytesMax: number;
  #records: LogRecord[] = [];
  /** The record before the first kept one. */
  #before: LogPosition = LOG_START;
  #bytes = 0;
  #restoring: Promise<unknown> | undefined;

  constructor(bytesMax = RECENT_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** @param before the place of the record before it */
  add(record: LogRecord, before: LogPosition): void {
    if (this.#records.at(-1)?.id !== before.id) this.clear();
    if (this.#records.length === 0) this.#before = before;
    // A copy, because the bytes of a received record are a part of a larger message.
    this.#records.push({ ...record, bytes: new Uint8Array(record.bytes) });
    this.#bytes += record.bytes.length;
    if (this.#bytes > this.#bytesMax) this.#dropOldest();
  }

  clear(): void {
    this.#records = [];
    this.#bytes = 0;
  }

  /** Returns the records after the end of a log; none when the log has another history or ends before the kept records. */
  after({ sequence, id }: LogPosition): readonly LogRecord[] {
    if (sequence === this.#before.sequence && id === this.#before.id) return [...this.#records];
    const place = this.#records.findIndex((record) => record.sequence === sequence);
    return this.#records[place]?.id === id ? this.#records.slice(place + 1) : [];
  }

  /**
   * Restores the records after the end of a log, unless that is under way. The servers refuse the records when the log still has them,
   * and only the server that answered lags.
   * @param restored called when the servers have the records
   */
  bringBack(bus: Pick<Bus, 'append'>, end: LogPosition, restored: (count: number) => void): void {
    this.#restoring ??= this.restore(bus, end)
      .then(
        (count) => count > 0 && restored(count),
        () => {},
      )
      .finally(() => {
        this.#restoring = undefined;
      });
  }

  /**
   * Appends the records after the end of the log again, unchanged. A record has the same ID everywhere, so several nodes may do it.
   * @returns the number of appended records
   * @throws Error when the servers refuse a record or do not answer
   */
  async restore(bus: Pick<Bus, 'append'>, end: LogPosition): Promise<number> {
    let before = end;
    const records = this.after(end);
    for (const record of records) {
      await bus.append(before, record.id, record.bytes);
      before = record;
    }
    return records.length;
  }

  /** Drops a quarter of the size at once, so that dropping costs little for each record. */
  #dropOldest(): void {
    let count = 0;
    while (this.#bytes > 0.75 * this.#bytesMax && count < this.#records.length - 1)
      this.#bytes -= this.#records[count++]!.bytes.length;
    this.#before = this.#records.splice(0, count).at(-1) ?? this.#before;
  }
}
