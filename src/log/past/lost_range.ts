import type { Lost } from './entry_order.js';

/** Thrown when a part of the past is not known. The entries in its range, including both ends, are lost. */
export class LostRange extends Error implements Lost {
  override readonly name = 'LostRange';
  readonly firstNs: bigint;
  readonly lastNs: bigint;
  readonly damage: string | undefined;

  constructor({ firstNs, lastNs, damage }: Lost) {
    super(damage ?? 'the signed prices of this time were never received');
    this.firstNs = firstNs;
    this.lastNs = lastNs;
    this.damage = damage;
  }
}

/** Thrown when files were removed while a range was read, because their retention time ended. */
export class RangeRemoved extends Error {
  override readonly name = 'RangeRemoved';
}

/** Thrown when a part of the past was moved or removed while it was read. The reader reads again. */
export class PastChanged extends Error {
  override readonly name = 'PastChanged';
}
