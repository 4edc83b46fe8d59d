import type { MARKET_CLOSED, MarketStatus } from '../wire/market_status_codes.js';

/** The status of a session. Between sessions the market is closed. */
export type OpenStatus = Exclude<MarketStatus, typeof MARKET_CLOSED>;

/**
 * A trading session, in wall-clock minutes from the midnight that begins the trading day's date. Negative minutes are on the
 * evening before that date. Minutes from 1440 on are on the day after that date.
 */
export interface Session {
  readonly fromMin: number;
  readonly toMin: number;
  readonly status: OpenStatus;
}

/** The usual trading hours of a market, in its local time. */
export interface TradingHours {
  /** An IANA name. */
  readonly timeZone: string;
  /** The sessions of each weekday's trading day, Monday first, in order. No two sessions of the week overlap. */
  readonly week: readonly (readonly Session[])[];
}
