/**
 * The key of a record. The two parts order the records. The first part is a second or an asset. The second part is unique among the
 * keys with the same first part.
 */
export type Key = readonly [string | number, string | number];

/** The conversion between the values of a kind of record and bytes. */
export interface Codec<Value> {
  /** Encodes a value. The bytes may be valid only until the next call. */
  encode(value: Value, key: Key): Uint8Array;
  decode(payload: Uint8Array, key: Key): Value;
}

/** The records of a kind. A change stays in memory until the journal's next commit, but reads see the change immediately. */
export interface Table<Value> {
  /** @throws DamagedRecord when the record on disk is damaged */
  get(key: Key): Value | undefined;
  /** Records a value. The caller must put a value again after changing the value. */
  put(key: Key, value: Value): void;
  /** Returns the slot of a record that changes often. The table keeps the slot, so that {@link putIn} leaves no object behind. */
  keep(key: Key): RecordSlot<Value>;
  /** Records a value like {@link put}. */
  putIn(slot: RecordSlot<Value>, value: Value): void;
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

/** The changes of one record that wait: the change for the next commit, and the change that the running commit writes. */
export class RecordSlot<Value> {
  readonly key: Key;
  readonly keyText: string;
  /** True when the table keeps the slot while no change waits. */
  isKept = false;
  isPending = false;
  /** The value for the next commit; `undefined` removes the record. */
  value: Value | undefined;
  isCommitting = false;
  /** The value that the running commit writes; `undefined` removes the record. */
  committed: Value | undefined;
  /** The place of the bytes for the disk among the records of the running commit. */
  start = 0;
  end = 0;

  constructor(key: Key, keyText: string) {
    this.key = key;
    this.keyText = keyText;
  }

  /** True while a change of the record is not on the disk. */
  get isWaiting(): boolean {
    return this.isPending || this.isCommitting;
  }

  /** The value after the newest change; `undefined` removes the record. */
  get newest(): Value | undefined {
    return this.isPending ? this.value : this.committed;
  }
}

/** Returns the text that represents the key in the record's checksum. */
export function keyTextOf(key: Key): string {
  return `${key[0]}/${key[1]}`;
}
