import { encodeAcceptedInput } from '../../log/records/accepted_input.js';
import { encodeHolding, type Holding } from '../../log/records/holding.js';
import type { LatestInput } from '../../log/records/latest_input.js';
import type { Store } from '../../log/store/store.js';
import type { StoredInput } from '../../log/store/store_options.js';
import type { Asset } from '../../model/asset.js';
import type { Priced } from '../../model/price_sink.js';
import type { Term } from '../leading/term.js';
import type { PublicLogKind } from '../log/log_batch.js';
import type { PriceLog } from './price_log.js';

/**
 * The log of a cluster during a term of this node. Every node, including this one, stores a record when it receives the record from the
 * log.
 */
export class TermLog implements PriceLog {
  readonly #term: Term;
  readonly #store: Pick<Store, 'inputs'>;

  constructor(term: Term, store: Pick<Store, 'inputs'>) {
    this.#term = term;
    this.#store = store;
  }

  get isOver(): boolean {
    return this.#term.isOver;
  }

  priced(message: Priced): void {
    this.#term.priced(message.asset, message);
  }

  ended(asset: Asset): void {
    this.#term.ended(asset);
  }

  append({ symbol, signatureType }: Asset, holding: Holding): void {
    this.#term.append({ symbol, signatureType, bytes: encodeHolding(holding) });
  }

  putInput({ symbol, signatureType }: Asset, publisherKey: Buffer, accepted: LatestInput): void {
    const bytes = encodeAcceptedInput(accepted, signatureType);
    this.#term.append({ symbol, signatureType, publisherKey, bytes });
  }

  /**
   * Appends a part of the public log.
   * @returns a promise that resolves when the servers have the part and this node has received it
   * @throws LeadershipLost (as a rejection) when it is unknown whether the servers have the part
   */
  appendPublic(publicLog: PublicLogKind, bytes: Uint8Array): Promise<void> {
    this.#term.append({ symbol: '', signatureType: 'evm', publicLog, bytes });
    return this.#term.durable();
  }

  inputs(): Iterable<StoredInput> {
    return this.#store.inputs();
  }

  durable(): Promise<void> {
    return this.#term.durable();
  }
}
