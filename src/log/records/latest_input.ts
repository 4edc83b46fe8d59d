import type { Price } from '../../model/price.js';
import type { SeenUpdates } from '../../model/seen_updates.js';
import type { KeptInput, PublisherPrice } from '../../model/signed_price.js';
import type { TimeNs } from '../../model/time.js';
import type { InputTexts } from '../../wire/aggregate_line.js';
import type { AcceptedInput } from './accepted_input.js';

/** The texts that identify an update. */
export type UpdateTexts = Omit<InputTexts, 'publisherKey'>;

/** The latest accepted input of a pair of publisher and asset at the time of its use, as long as the process lives. */
export class LatestInput<Seen extends SeenUpdates = SeenUpdates> implements AcceptedInput, KeptInput {
  readonly seen: Seen;
  #input: PublisherPrice | undefined;

  constructor(seen: Seen) {
    this.seen = seen;
  }

  /** The input. The pair must have one. */
  get input(): PublisherPrice {
    return this.#input!;
  }

  get price(): Price {
    return this.input.price;
  }

  get timestampNs(): TimeNs {
    return this.input.timestampNs;
  }

  take(): PublisherPrice {
    return this.input;
  }

  /** Puts an input from a record. */
  restore(input: PublisherPrice): void {
    this.#input = input;
  }

  /** Puts the next input, whose text of the price parses to `price`. */
  put(publisherKey: string, price: Price, timestampNs: TimeNs, texts: UpdateTexts): void {
    const { externalAssetId, price: priceText, r, s, v, msgHash, metadata } = texts;
    const wire = { publisherKey, externalAssetId, price: priceText, r, s, v, msgHash, metadata };
    this.#input = { price, timestampNs, wire };
  }

  /** Returns whether an update with these texts and this time is exactly this input. */
  is(timestampNs: TimeNs, texts: UpdateTexts): boolean {
    const input = this.#input;
    if (input === undefined) return false;
    return (
      input.timestampNs === timestampNs && input.wire.metadata === texts.metadata && this.isSigned(texts)
    );
  }

  /** Returns whether these texts have the same signature and the same signed texts as this input. */
  isSigned({ r, s, v, msgHash, externalAssetId, price }: UpdateTexts): boolean {
    const wire = this.#input?.wire;
    return (
      wire !== undefined &&
      wire.r === r &&
      wire.s === s &&
      wire.v === v &&
      wire.msgHash === msgHash &&
      wire.externalAssetId === externalAssetId &&
      wire.price === price
    );
  }
}
