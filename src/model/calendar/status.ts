import type { MarketStatus } from '../../wire/market_status_codes.js';
import type { TradingHours } from './trading_hours.js';

/** The state of a market at one instant, and its next real change. `nextStatus` always differs from `status`. */
export interface MarketState {
  readonly status: MarketStatus;
  readonly nextStatus: MarketStatus;
  /** The UNIX second of the change, after the requested instant: `nextStatus` holds from this second on. */
  readonly changeAtS: number;
}

/** The trading times of a market. */
export interface Calendar {
  readonly name: string;
  readonly hours: TradingHours;
  /**
   * Returns the state at `unixS`, a UNIX second that may have a fraction. The calendar caches the last answer until the next
   * change, so a call on every tick is cheap.
   * @throws RangeError when `unixS` is not a number or is about 270,000 years away.
   */
  stateAt(unixS: number): MarketState;
}
