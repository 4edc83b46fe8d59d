import type { MARKET_CLOSED, MarketStatus } from '../wire/market_status_codes.js';

/** The status of a session; between sessions the market is closed. */
export type OpenStatus = Exclude<MarketStatus, typeof MARKET_CLOSED>;

/** The state of a market at one instant, and its next real change: `nextStatus` is never `status`. */
export interface MarketState {
  readonly status: MarketStatus;
  readonly nextStatus: MarketStatus;
  /** UNIX seconds of the change, after the asked instant: from this second on `nextStatus` holds. */
  readonly changeAtS: number;
}

/** The trading times of a market. */
export interface Calendar {
  readonly name: string;
  /**
   * Returns the state at `unixS`, UNIX seconds, whole or not. The calendar keeps the last answer until the next change, so a call
   * on every tick is cheap.
   * @throws RangeError when `unixS` is not a number or is about 270,000 years away.
   */
  stateAt(unixS: number): MarketState;
}
