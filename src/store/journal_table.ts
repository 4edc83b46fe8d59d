import type { Database } from 'lmdb';
import { DamagedRecord, unwrapRecord, wrappedBytes, wrapRecord } from '../records/envelope.js';
import { pagesOfChanges } from './lmdb/disk_room.js';
import {
  type Codec,
  type CommitPart,
  type Key,
  type KeyRange,
  keyTextOf,
  type RecordPart,
  RecordSlot,
  type StoredRecord,
  type Table,
} from './table.js';

/** A table of a journal. Changes of the table wait in memory until a commit takes them. */
export class JournalTable<Value> implements Table<Value>, CommitPart {
  readonly #database: Database<Buffer, [string | number, string | number]>;
  readonly #codec: Codec<Value>;
  readonly #onChange: () => void;
  /** The slots of the records that wait to be written, and the kept slots, by the text of their key. */
  readonly #slots = new Map<string, RecordSlot<Value>>();
  /** The slots that the next commit takes, unless a removal has withdrawn their change. */
  #listed: RecordSlot<Value>[] = [];
  #pending = 0;
  /** The slots that the running commit writes. */
  #committing: RecordSlot<Value>[] | undefined;
  /** The records of the running commit, one after the other. The next commit uses the memory again. */
  #records: Buffer = Buffer.alloc(0);

  constructor(
    database: Database<Buffer, [string | number, string | number]>,
    codec: Codec<Value>,
    onChange: () => void,
  ) {
    this.#database = database;
    this.#codec = codec;
    this.#onChange = onChange;
  }

  get(key: Key): Value | undefined {
    const keyText = keyTextOf(key);
    const slot = this.#slots.get(keyText);
    if (slot?.isWaiting) return slot.newest;
    const wrapped = this.#database.getBinary([key[0], key[1]]);
    return wrapped && this.#codec.decode(unwrapRecord(keyText, wrapped), key);
  }

  put(key: Key, value: Value): void {
    this.#change(this.#slotOf(key), value);
  }

  keep(key: Key): RecordSlot<Value> {
    const slot = this.#slotOf(key);
    slot.isKept = true;
    return slot;
  }

  putIn(slot: RecordSlot<Value>, value: Value): void {
    this.#change(slot, value);
  }

  remove(key: Key): void {
    const slot = this.#slotOf(key);
    // A record that never reached the disk needs no removal on the disk. Without this check, removals would accumulate while the disk
    // fails.
    const isOnlyPending =
      slot.isPending && this.#committing === undefined && !this.#database.doesExist([key[0], key[1]]);
    if (isOnlyPending) this.#withdraw(slot);
    else this.#change(slot, undefined);
  }

  isWaiting(key: Key): boolean {
    return this.#slots.get(keyTextOf(key))?.isWaiting === true;
  }

  get waiting(): number {
    return this.#pending + (this.#committing?.length ?? 0);
  }

  get pending(): number {
    return this.#pending;
  }

  keysOnDisk(range?: KeyRange): Iterable<Key> {
    if (range === undefined) return this.#database.getKeys();
    const { start, end, ...rest } = range;
    return this.#database.getKeys({ start: [start[0], start[1]], end: [end[0], end[1]], ...rest });
  }

  *keys(): Iterable<Key> {
    const waiting = [...this.#slots.values()].filter((slot) => slot.isWaiting);
    const known = new Set<string>();
    for (const key of [...this.#database.getKeys(), ...waiting.map((slot) => slot.key)]) {
      const keyText = keyTextOf(key);
      const slot = this.#slots.get(keyText);
      const isRemoved = slot?.isWaiting && slot.newest === undefined;
      if (known.has(keyText) || isRemoved) continue;
      known.add(keyText);
      yield key;
    }
  }

  get recordCount(): number {
    return (this.#database.getStats() as { readonly entryCount: number }).entryCount;
  }

  *recordsOnDisk(part?: RecordPart): Iterable<StoredRecord> {
    const { after, limit } = part ?? {};
    const start = after && {
      start: [after[0], after[1]] as [string | number, string | number],
      exclusiveStart: true,
    };
    for (const { key, value } of this.#database.getRange({ ...start, ...(limit !== undefined && { limit }) }))
      yield { key, bytes: value.length, damage: damageOf(keyTextOf(key), value) };
  }

  beginCommit(): void {
    const committing: RecordSlot<Value>[] = [];
    for (const slot of this.#listed) {
      // A slot whose change was withdrawn may be listed a second time.
      if (!slot.isPending) continue;
      slot.isPending = false;
      slot.isCommitting = true;
      slot.committed = slot.value;
      slot.value = undefined;
      committing.push(slot);
    }
    this.#committing = committing;
    this.#listed = [];
    this.#pending = 0;
  }

  encodeCommit(): number {
    let end = 0;
    for (const slot of this.#committing!) {
      if (slot.committed === undefined) continue;
      const payload = this.#codec.encode(slot.committed, slot.key);
      slot.start = end;
      end += wrappedBytes(payload);
      if (end > this.#records.length) this.#records = grown(this.#records, slot.start, 2 * end);
      slot.end = end;
      wrapRecord(slot.keyText, payload, this.#records.subarray(slot.start, end));
    }
    return pagesOfChanges(this.#database, this.#committing!.length, end);
  }

  writeCommit(): void {
    for (const { key, committed, start, end } of this.#committing!) {
      if (committed === undefined) this.#database.remove([key[0], key[1]]);
      else this.#database.put([key[0], key[1]], this.#records.subarray(start, end));
    }
  }

  endCommit(): void {
    for (const slot of this.#committing!) {
      slot.isCommitting = false;
      slot.committed = undefined;
      this.#release(slot);
    }
    this.#committing = undefined;
    if (this.#records.length > RECORDS_KEPT_BYTES_MAX) this.#records = Buffer.alloc(0);
  }

  undoCommit(): void {
    const committing = this.#committing!;
    this.#committing = undefined;
    for (const slot of committing) {
      const { committed } = slot;
      slot.isCommitting = false;
      slot.committed = undefined;
      if (!slot.isPending) this.#list(slot, committed);
    }
  }

  #slotOf(key: Key): RecordSlot<Value> {
    const keyText = keyTextOf(key);
    let slot = this.#slots.get(keyText);
    if (slot === undefined) {
      slot = new RecordSlot(key, keyText);
      this.#slots.set(keyText, slot);
    }
    return slot;
  }

  #change(slot: RecordSlot<Value>, value: Value | undefined): void {
    if (slot.isPending) slot.value = value;
    else this.#list(slot, value);
    this.#onChange();
  }

  #list(slot: RecordSlot<Value>, value: Value | undefined): void {
    slot.value = value;
    slot.isPending = true;
    this.#listed.push(slot);
    this.#pending++;
  }

  #withdraw(slot: RecordSlot<Value>): void {
    slot.value = undefined;
    slot.isPending = false;
    this.#pending--;
    this.#release(slot);
  }

  /** Forgets a slot that nothing needs. */
  #release(slot: RecordSlot<Value>): void {
    if (!slot.isKept && !slot.isWaiting) this.#slots.delete(slot.keyText);
  }
}

/** The largest amount of memory for records that a table keeps between commits. */
const RECORDS_KEPT_BYTES_MAX = 8 * 1024 * 1024;

/** Returns larger memory with the first `used` bytes. The rest is not cleared, which would take longer than the copy. */
function grown(memory: Buffer, used: number, length: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(length);
  larger.set(memory.subarray(0, used));
  return larger;
}

function damageOf(keyText: string, wrapped: Buffer): string | undefined {
  try {
    unwrapRecord(keyText, wrapped);
    return undefined;
  } catch (error) {
    if (error instanceof DamagedRecord) return error.message;
    throw error;
  }
}
