import type { MARKET_CLOSED, MarketStatus } from '../../wire/market_status_codes.js';

/** The status of a session. Between sessions the market is closed. */
export type OpenStatus = Exclude<MarketStatus, typeof MARKET_CLOSED>;

/**
 * Wall-clock minutes from the midnight that begins the trading day's date. Negative minutes are on the evening before that date. Minutes
 * from 1440 on are on the day after that date.
 */
export interface Span {
  readonly fromMin: number;
  readonly toMin: number;
}

/** A trading session. */
export interface Session extends Span {
  readonly status: OpenStatus;
}

/** The usual trading hours of a market, in its local time. */
export interface TradingHours {
  /** An IANA name. */
  readonly timeZone: string;
  /** The newest hours: the sessions of each weekday's trading day, Monday first, in order. No two sessions of the week overlap. */
  readonly week: readonly (readonly Session[])[];
  /** Earlier hours, the newest first, each with the trading day on which the hours after it begin; absent if there are none. */
  readonly earlierWeeks?: readonly EarlierWeek[];
}

/** The hours of a market before a change. */
export interface EarlierWeek {
  /** The first trading day (`YYYY-MM-DD`) with later hours. */
  readonly until: string;
  readonly week: TradingHours['week'];
}
