import type { Asset, ListedPublisher } from '../model/asset.js';
import type { PublisherPrice } from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import { type InputRow, InputTable, type UpdateTexts } from '../records/input_row.js';
import { PairMap } from './pair_map.js';

/** An update with the received texts. */
export interface ReceivedUpdate {
  readonly asset: Asset;
  readonly publisher: ListedPublisher;
  readonly timestampNs: TimeNs;
  readonly raw: UpdateTexts;
}

/**
 * The last accepted update of each publisher for each asset, as a row of bytes. The gate uses this update to recognise a
 * repeated update.
 */
export class LastAccepted {
  readonly #rows = new InputTable();
  readonly #rowOf = new PairMap<InputRow>();

  /** Returns the row of a publisher and an asset. A new row is empty until the caller writes to the row. */
  rowOf(asset: Asset, publisher: ListedPublisher): InputRow {
    let row = this.#rowOf.get(asset, publisher);
    if (row === undefined) {
      row = this.#rows.add(asset.symbol);
      this.#rowOf.set(asset, publisher, row);
    }
    return row;
  }

  restore(asset: Asset, publisher: ListedPublisher, input: PublisherPrice): InputRow {
    const row = this.rowOf(asset, publisher);
    row.restore(input);
    return row;
  }

  /** Returns whether this update is exactly the last accepted update. */
  is({ asset, publisher, timestampNs, raw }: ReceivedUpdate): boolean {
    return this.#rowOf.get(asset, publisher)?.is(timestampNs, raw) === true;
  }

  /**
   * Returns whether this update has the same signature and the same signed texts as the last accepted update. The method compares
   * the texts, because the hash is only a claim of the publisher until the service computes it again. A signature also covers the
   * second, which may differ.
   */
  isSigned({ asset, publisher, raw }: ReceivedUpdate): boolean {
    return this.#rowOf.get(asset, publisher)?.isSigned(raw) === true;
  }
}
