import type { Database } from 'lmdb';
import { unwrapRecord, wrapRecord } from '../records/envelope.js';

/** Two parts order a record among its kind: a second or an asset first, then what tells the rest apart. */
export type Key = readonly [string | number, string | number];

/** How the values of one kind of record become bytes. */
export interface Codec<Value> {
  /** The bytes need only be valid until the next call. */
  encode(value: Value): Uint8Array;
  decode(payload: Uint8Array, key: Key): Value;
}

/** One kind of record. A change is a change in memory until the journal's next commit; reading sees it at once. */
export interface Table<Value> {
  /** @throws DamagedRecord when the disk no longer holds what was written. */
  get(key: Key): Value | undefined;
  /** A value that changes afterwards must be put again. */
  put(key: Key, value: Value): void;
  remove(key: Key): void;
  /** Whether this record waits to be written. */
  isWaiting(key: Key): boolean;
  /** How many records wait to be written. */
  readonly waiting: number;
  /** The keys on disk, ascending; what waits is not among them. */
  keysOnDisk(range?: { readonly start: Key; readonly end: Key; readonly limit: number }): Iterable<Key>;
  /** Checks every record on disk against its checksum. @throws DamagedRecord for the first that fails. */
  checkOnDisk(): void;
}

/** What a commit does with each table, whatever its records are. */
export interface CommitPart {
  readonly waiting: number;
  /** Changes that the next commit takes. */
  readonly pending: number;
  beginCommit(): void;
  /** Encodes what the commit writes. @returns its bytes */
  encodeCommit(): number;
  /** Runs inside the commit's transaction. */
  writeCommit(): void;
  endCommit(): void;
  /** The commit failed: its changes wait again, under those that came since. */
  undoCommit(): void;
}

/** A table of a journal: its changes wait here until a commit takes them. */
export class JournalTable<Value> implements Table<Value>, CommitPart {
  readonly #database: Database<Buffer, [string | number, string | number]>;
  readonly #codec: Codec<Value>;
  readonly #onChange: () => void;
  #pending = new Map<string, Change<Value>>();
  /** What the commit that is under way writes. */
  #committing: Map<string, Change<Value>> | undefined;

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

  put(key: Key, value: Value): void {
    this.#change(key, value);
  }

  remove(key: Key): void {
    const keyText = keyTextOf(key);
    // What never reached the disk needs no removal there: nothing may pile up while the disk fails.
    const isOnlyPending =
      this.#pending.has(keyText) &&
      this.#committing === undefined &&
      !this.#database.doesExist([key[0], key[1]]);
    if (isOnlyPending) this.#pending.delete(keyText);
    else this.#change(key, undefined);
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

  keysOnDisk(range?: { readonly start: Key; readonly end: Key; readonly limit: number }): Iterable<Key> {
    if (range === undefined) return this.#database.getKeys();
    const { start, end, limit } = range;
    return this.#database.getKeys({ start: [start[0], start[1]], end: [end[0], end[1]], limit });
  }

  checkOnDisk(): void {
    for (const { key, value } of this.#database.getRange()) unwrapRecord(keyTextOf(key), value);
  }

  beginCommit(): void {
    this.#committing = this.#pending;
    this.#pending = new Map();
  }

  encodeCommit(): number {
    let recordBytes = 0;
    for (const [keyText, change] of this.#committing!) {
      if (change.value === undefined) continue;
      change.wrapped ??= wrapRecord(keyText, this.#codec.encode(change.value));
      recordBytes += change.wrapped.length;
    }
    return recordBytes;
  }

  writeCommit(): void {
    for (const { key, wrapped } of this.#committing!.values()) {
      if (wrapped === undefined) this.#database.remove(key);
      else this.#database.put(key, wrapped);
    }
  }

  endCommit(): void {
    this.#committing = undefined;
  }

  undoCommit(): void {
    for (const [keyText, change] of this.#pending) this.#committing!.set(keyText, change);
    this.#pending = this.#committing!;
    this.#committing = undefined;
  }

  #find(keyText: string): Change<Value> | undefined {
    return this.#pending.get(keyText) ?? this.#committing?.get(keyText);
  }

  #change(key: Key, value: Value | undefined): void {
    this.#pending.set(keyTextOf(key), { key: [key[0], key[1]], value });
    this.#onChange();
  }
}

interface Change<Value> {
  readonly key: [string | number, string | number];
  /** `undefined` removes the record. */
  readonly value: Value | undefined;
  /** The record as it goes to disk, made by the first commit that tries. */
  wrapped?: Buffer;
}

function keyTextOf(key: Key): string {
  return `${key[0]}/${key[1]}`;
}
