import type { Asset } from '../../model/asset.js';
import type { Calendar } from '../../model/calendar/status.js';
import { NO_SCHEDULE } from '../../wire/market_status_codes.js';

/** The market status of every asset, from the calendars of the assets. */
export class MarketStatuses {
  readonly #calendarByAsset: readonly (Calendar | undefined)[];
  readonly #statuses: Uint8Array;
  #fromS = 0;
  #toS = 0;

  constructor(assets: readonly Asset[], calendars: ReadonlyMap<string, Calendar>) {
    this.#calendarByAsset = assets.map(({ calendar }) => calendars.get(calendar));
    this.#statuses = new Uint8Array(assets.length);
  }

  /** Returns the asset's calendar, or `undefined` when the asset trades around the clock. */
  calendarOf(asset: Asset): Calendar | undefined {
    return this.#calendarByAsset[asset.index];
  }

  /**
   * Returns the status codes at a UNIX second by asset index. An asset without a calendar has `NO_SCHEDULE`. The next call overwrites the
   * array.
   */
  statusesAt(unixS: number): Uint8Array {
    if (unixS >= this.#fromS && unixS < this.#toS) return this.#statuses;
    this.#fromS = unixS;
    this.#toS = Number.POSITIVE_INFINITY;
    this.#calendarByAsset.forEach((calendar, index) => {
      const state = calendar?.stateAt(unixS);
      this.#statuses[index] = state?.status ?? NO_SCHEDULE;
      if (state && state.changeAtS < this.#toS) this.#toS = state.changeAtS;
    });
    return this.#statuses;
  }
}
