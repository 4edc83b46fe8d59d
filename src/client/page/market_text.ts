import type { MarketStatusName } from '../prices/tick.js';

const TEXTS: Readonly<Record<MarketStatusName, string>> = {
  closed: 'closed',
  'regular hours': 'open',
  'extended hours': 'pre-market',
  'after hours': 'after hours',
};

/** @param status of the newest value, `undefined` where there is none */
export function marketText(calendar: string, status: MarketStatusName | undefined): string {
  if (status !== undefined) return TEXTS[status] ?? '';
  return calendar === 'none' ? '24/7' : '';
}
