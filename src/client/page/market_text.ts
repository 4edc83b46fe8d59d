import {
  MARKET_AFTER_HOURS,
  MARKET_CLOSED,
  MARKET_EXTENDED,
  MARKET_REGULAR,
} from '../../wire/market_status_codes.js';

const TEXTS: Readonly<Record<number, string>> = {
  [MARKET_CLOSED]: 'closed',
  [MARKET_REGULAR]: 'open',
  [MARKET_EXTENDED]: 'pre-market',
  [MARKET_AFTER_HOURS]: 'after hours',
};

/** @param status the market status code of the newest value, `undefined` where there is none */
export function marketText(calendar: string, status: number | undefined): string {
  if (status !== undefined) return TEXTS[status] ?? '';
  return calendar === 'none' ? '24/7' : '';
}
