import type { Resolution } from './rest_values.js';

/** An interval of a resolution on UTC boundaries, in UNIX seconds. `startS` is part of the interval, but `endS` is not. */
export interface CandleInterval {
  readonly startS: number;
  readonly endS: number;
}

export const MINUTE_S = 60;
export const DAY_S = 86_400;
const WEEK_S = 7 * DAY_S;
/** 1970-01-05, the first Monday. */
const MONDAY_S = 4 * DAY_S;

/**
 * Returns the interval that contains the second `atS`. Minutes and days divide the UTC day. Weeks start on Monday, and months on the
 * 1st.
 */
export function intervalAt(resolution: Resolution, atS: number): CandleInterval {
  switch (resolution) {
    case 'D':
    case '1D':
      return fixedInterval(atS, DAY_S, 0);
    case 'W':
    case '1W':
      return fixedInterval(atS, WEEK_S, MONDAY_S);
    case 'M':
    case '1M':
      return monthInterval(atS);
    default:
      return fixedInterval(atS, Number(resolution) * MINUTE_S, 0);
  }
}

/** Returns whether each interval of the resolution consists of whole quarter hours. */
export function isWholeQuarters(resolution: Resolution): boolean {
  return resolution !== '1' && resolution !== '2' && resolution !== '5';
}

function fixedInterval(atS: number, lengthS: number, originS: number): CandleInterval {
  const startS = Math.floor((atS - originS) / lengthS) * lengthS + originS;
  return { startS, endS: startS + lengthS };
}

function monthInterval(atS: number): CandleInterval {
  const date = new Date(atS * 1000);
  const year = date.getUTCFullYear();
  return {
    startS: Date.UTC(year, date.getUTCMonth(), 1) / 1000,
    endS: Date.UTC(year, date.getUTCMonth() + 1, 1) / 1000,
  };
}
