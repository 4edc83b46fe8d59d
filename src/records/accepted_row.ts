import type { SeenUpdates } from '../model/seen_updates.js';
import type { PublisherPrice } from '../model/signed_price.js';
import type { AcceptedInput } from './accepted_input.js';
import type { InputRow } from './input_row.js';

/**
 * The latest accepted input of a pair of publisher and asset at the time of its use, as long as the process lives. The record is
 * encoded from the bytes of the row.
 */
export class AcceptedRow<Seen extends SeenUpdates = SeenUpdates> implements AcceptedInput {
  readonly row: InputRow;
  readonly seen: Seen;

  constructor(row: InputRow, seen: Seen) {
    this.row = row;
    this.seen = seen;
  }

  get input(): PublisherPrice {
    return this.row.take();
  }
}
