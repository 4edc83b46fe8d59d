export const MARKET_CLOSED = 0;
export const MARKET_REGULAR = 1;
/** The session before regular hours. */
export const MARKET_EXTENDED = 2;
export const MARKET_AFTER_HOURS = 3;

export type MarketStatus = 0 | 1 | 2 | 3;

/** The names of the codes in documents. */
export const MARKET_STATUS_NAMES: Readonly<Record<MarketStatus, string>> = {
  [MARKET_CLOSED]: 'closed',
  [MARKET_REGULAR]: 'regular hours',
  [MARKET_EXTENDED]: 'extended hours',
  [MARKET_AFTER_HOURS]: 'after hours',
};

/** The codes, ascending. */
export const MARKET_STATUS_CODES: readonly MarketStatus[] = [
  MARKET_CLOSED,
  MARKET_REGULAR,
  MARKET_EXTENDED,
  MARKET_AFTER_HOURS,
];

/** The code in payloads for an asset that has no market schedule. JSON leaves the field out. */
export const NO_SCHEDULE = 0xff;

/** The suffixes that `/v1/market_status` adds to the symbol, to name its three values. */
export const MARKET_STATUS_SUFFIXES = {
  current: '_CURRENT_STATUS',
  next: '_NEXT_STATUS',
  change: '_CHANGE_TIME',
} as const;
