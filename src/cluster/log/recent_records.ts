import { type Bus, LOG_START, type LogPosition, type LogRecord } from '../bus.js';

/** The largest total size of the records that a node keeps so that it can restore them. */
export const RECENT_BYTES_MAX = 32 * 1024 * 1024;

/** The newest applied records. A node appends these records again when the message servers have lost the end of the log. */
export class RecentRecords {
  readonly #bytesMax: number;
  #records: LogRecord[] = [];
  /** The position before the first kept record. */
  #before: LogPosition = LOG_START;
  #bytes = 0;
  #restoring: Promise<unknown> | undefined;

  constructor(bytesMax = RECENT_BYTES_MAX) {
    this.#bytesMax = bytesMax;
  }

  /** @param before the position of the preceding record */
  add(record: LogRecord, before: LogPosition): void {
    if (this.#records.at(-1)?.id !== before.id) this.clear();
    if (this.#records.length === 0) this.#before = before;
    // The bytes are copied, because a received record is a view of a larger message.
    this.#records.push({ ...record, bytes: new Uint8Array(record.bytes) });
    this.#bytes += record.bytes.length;
    if (this.#bytes > this.#bytesMax) this.#dropOldest();
  }

  clear(): void {
    this.#records = [];
    this.#bytes = 0;
  }

  /** Returns the kept records after the end of a log; none when the log has a different history or ends before the kept records. */
  after({ sequence, id }: LogPosition): readonly LogRecord[] {
    if (sequence === this.#before.sequence && id === this.#before.id) return [...this.#records];
    const place = this.#records.findIndex((record) => record.sequence === sequence);
    return this.#records[place]?.id === id ? this.#records.slice(place + 1) : [];
  }

  /**
   * Starts to restore the records after the end of a log, unless a restore is already in progress. If only the answering server lags, the
   * log still has the records, and the servers refuse to append them.
   * @param restored called when the servers have stored the records
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
   * Appends the records after the end of the log again, unchanged. A record has the same ID on every node, so several nodes may restore at
   * the same time.
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

  /** Drops a quarter of the records at once, so that the cost per record stays small. */
  #dropOldest(): void {
    let count = 0;
    while (this.#bytes > 0.75 * this.#bytesMax && count < this.#records.length - 1)
      this.#bytes -= this.#records[count++]!.bytes.length;
    this.#before = this.#records.splice(0, count).at(-1) ?? this.#before;
  }
}
