import type { Key } from './table.js';

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
