import type { MarketStatusName } from '../prices/tick.js';

const TEXTS: Readonly<Record<MarketStatusName, string>> = {
  closed: 'closed',
  'regular hours': 'open',
  'extended hours': 'pre-market',
  'after hours': 'after hours',
};

/** Describes the status of a market. @param status the status in the newest value; `undefined` without a value */
export function marketText(calendar: string, status: MarketStatusName | undefined): string {
  if (status !== undefined) return TEXTS[status] ?? '';
  return calendar === 'none' ? '24/7' : '';
}
