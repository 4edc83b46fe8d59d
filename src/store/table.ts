import type { Database } from 'lmdb';
import { DamagedRecord, unwrapRecord, wrappedBytes, wrapRecord } from '../records/envelope.js';
import { pagesOfChanges } from './lmdb/disk_room.js';

/**
 * The key of a record. The two parts order the records. The first part is a second or an asset. The second part is unique among the
 * keys with the same first part.
 */
export type Key = readonly [string | number, string | number];

/** The conversion between the values of a kind of record and bytes. */
export interface Codec<Value> {
  /** Encodes a value. The bytes may be valid only until the next call. */
  encode(value: Value): Uint8Array;
  decode(payload: Uint8Array, key: Key): Value;
}

/** The records of a kind. A change stays in memory until the journal's next commit, but reads see the change immediately. */
export interface Table<Value> {
  /** @throws DamagedRecord when the record on disk is damaged */
  get(key: Key): Value | undefined;
  /**
   * Records a value. The caller must put a value again after changing the value.
   * @param keyText the text of the key from {@link keyTextOf}, if the caller already has the text
   */
  put(key: Key, value: Value, keyText?: string): void;
  remove(key: Key): void;
  /** Returns whether this record waits to be written. */
  isWaiting(key: Key): boolean;
  /** The number of records that wait to be written. */
  readonly waiting: number;
  /** Returns the keys on disk, ascending. Excludes changes that wait to be written. */
  keysOnDisk(range?: KeyRange): Iterable<Key>;
  /** Returns the keys on disk and the keys that wait to be written. */
  keys(): Iterable<Key>;
  /** The number of records on disk. */
  readonly recordCount: number;
  /** Returns the records on disk, ascending by key, after checking the checksum of each record. The default is all records. */
  recordsOnDisk(part?: RecordPart): Iterable<StoredRecord>;
}

/** A range of keys: `start` is included, and `end` is excluded. With `reverse`, keys descend, and `start` is the greater key. */
export interface KeyRange {
  readonly start: Key;
  readonly end: Key;
  readonly limit: number;
  readonly reverse?: boolean;
}

/** At most `limit` records with keys after `after`, or from the first key on. */
export interface RecordPart {
  readonly after: Key | undefined;
  readonly limit: number;
}

/** A record on disk, with the value still encoded. */
export interface StoredRecord {
  readonly key: Key;
  /** The size of the value. */
  readonly bytes: number;
  /** The reason why the record is damaged; `undefined` for a sound record. */
  readonly damage: string | undefined;
}

/** The methods of a table that a commit calls. */
export interface CommitPart {
  readonly waiting: number;
  /** The number of changes that the next commit takes. */
  readonly pending: number;
  beginCommit(): void;
  /**
   * Encodes the changes that the commit writes.
   * @returns the largest number of pages that the changes can need on the disk
   */
  encodeCommit(): number;
  /** Writes the changes, inside the commit's transaction. */
  writeCommit(): void;
  endCommit(): void;
  /** Called when the commit failed. The changes of the commit wait again, unless newer changes replace them. */
  undoCommit(): void;
}

/** A table of a journal. Changes of the table wait in memory until a commit takes them. */
export class JournalTable<Value> implements Table<Value>, CommitPart {
  readonly #database: Database<Buffer, [string | number, string | number]>;
  readonly #codec: Codec<Value>;
  readonly #onChange: () => void;
  #pending = new Map<string, Change<Value>>();
  /** The changes that the running commit writes. */
  #committing: Map<string, Change<Value>> | undefined;
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
    const waiting = this.#find(keyText);
    if (waiting !== undefined) return waiting.value;
    const wrapped = this.#database.getBinary([key[0], key[1]]);
    return wrapped && this.#codec.decode(unwrapRecord(keyText, wrapped), key);
  }

  put(key: Key, value: Value, keyText = keyTextOf(key)): void {
    this.#change(key, value, keyText);
  }

  remove(key: Key): void {
    const keyText = keyTextOf(key);
    // A record that never reached the disk needs no removal on the disk. Without this check, removals would accumulate while the disk
    // fails.
    const isOnlyPending =
      this.#pending.has(keyText) &&
      this.#committing === undefined &&
      !this.#database.doesExist([key[0], key[1]]);
    if (isOnlyPending) this.#pending.delete(keyText);
    else this.#change(key, undefined, keyText);
  }

  isWaiting(key: Key): boolean {
    return this.#find(keyTextOf(key)) !== undefined;
  }

  get waiting(): number {
    return this.#pending.size + (this.#committing?.size ?? 0);
  }

  get pending(): number {
    return this.#pending.size;
  }

  keysOnDisk(range?: KeyRange): Iterable<Key> {
    if (range === undefined) return this.#database.getKeys();
    const { start, end, ...rest } = range;
    return this.#database.getKeys({ start: [start[0], start[1]], end: [end[0], end[1]], ...rest });
  }

  *keys(): Iterable<Key> {
    const known = new Set<string>();
    const waiting = [this.#committing, this.#pending].flatMap((changes) => [...(changes?.values() ?? [])]);
    for (const key of [...this.#database.getKeys(), ...waiting.map((change) => change.key)]) {
      const keyText = keyTextOf(key);
      const change = this.#find(keyText);
      if (known.has(keyText) || (change !== undefined && change.value === undefined)) continue;
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
    this.#committing = this.#pending;
    this.#pending = new Map();
  }

  encodeCommit(): number {
    let end = 0;
    for (const [keyText, change] of this.#committing!) {
      if (change.value === undefined) continue;
      const payload = this.#codec.encode(change.value);
      change.start = end;
      end += wrappedBytes(payload);
      if (end > this.#records.length) this.#records = grown(this.#records, change.start, 2 * end);
      change.end = end;
      wrapRecord(keyText, payload, this.#records.subarray(change.start, end));
    }
    return pagesOfChanges(this.#database, this.#committing!.size, end);
  }

  writeCommit(): void {
    for (const { key, value, start, end } of this.#committing!.values()) {
      if (value === undefined) this.#database.remove([key[0], key[1]]);
      else this.#database.put([key[0], key[1]], this.#records.subarray(start, end));
    }
  }

  endCommit(): void {
    this.#committing = undefined;
    if (this.#records.length > RECORDS_KEPT_BYTES_MAX) this.#records = Buffer.alloc(0);
  }

  undoCommit(): void {
    for (const [keyText, change] of this.#pending) this.#committing!.set(keyText, change);
    this.#pending = this.#committing!;
    this.#committing = undefined;
  }

  #find(keyText: string): Change<Value> | undefined {
    return this.#pending.get(keyText) ?? this.#committing?.get(keyText);
  }

  #change(key: Key, value: Value | undefined, keyText: string): void {
    this.#pending.set(keyText, { key, value, start: 0, end: 0 });
    this.#onChange();
  }
}

interface Change<Value> {
  readonly key: Key;
  /** The new value; `undefined` removes the record. */
  readonly value: Value | undefined;
  /** The place of the bytes for the disk among the records of the running commit. */
  start: number;
  end: number;
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

/** Returns the text that represents the key in the record's checksum. */
export function keyTextOf(key: Key): string {
  return `${key[0]}/${key[1]}`;
}
