import { formatDecimalPrice } from '../client/verify/decimal_price.js';
import { NS_PER_MS } from '../model/time.js';
import type { Decision } from './decision.js';
import { isOffsetNamed } from './market_quote.js';
import type { MarketReading } from './market_reading.js';

const HEAD = ['asset', 'source', 'symbol', 'bid', 'ask', 'age', 'verdict'];
const GREEN = '\x1b[32m';
const RED = '\x1b[31m';
const PLAIN = '\x1b[0m';

/** Returns a table for people: one line for each asset with its price, and one for each of its markets. */
export function decisionTable(decisions: readonly Decision[], isColoured: boolean): string {
  const rows = decisions.flatMap((decision) => [
    [decision.asset.symbol, '', '', '', '', '', shownPrice(decision)],
    ...decision.readings.map((reading) => readingRow(decision, reading)),
  ]);
  const widths = HEAD.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]!.length)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd();
  const isGood = (row: readonly string[]) => row[6] === 'used' || row[6]!.startsWith('price ');
  const coloured = (row: readonly string[]) => `${isGood(row) ? GREEN : RED}${line(row)}${PLAIN}`;
  return [line(HEAD), ...rows.map(isColoured ? coloured : line)].join('\n');
}

/** Returns one line for each market that does not count and for each asset without a price. */
export function faultLines(decisions: readonly Decision[]): string[] {
  return decisions.flatMap(({ asset, withheld, readings }) => [
    ...readings
      .filter(({ verdict }) => verdict !== 'used')
      .map(({ input, verdict }) => `${asset.symbol}: ${input.source} ${input.symbol}: ${verdict}`),
    ...readings
      .filter(({ quote }) => quote !== undefined && isOffsetNamed(quote))
      .map(
        ({ input, quote }) =>
          `${asset.symbol}: ${input.source} ${input.symbol}: its clock is ${Number(quote!.offsetNs! / NS_PER_MS)} ms off`,
      ),
    ...(withheld === undefined ? [] : [`${asset.symbol}: no price: ${withheld}`]),
  ]);
}

function shownPrice({ price, withheld }: Decision): string {
  return price === undefined ? `no price: ${withheld}` : `price ${formatDecimalPrice(price)}`;
}

function readingRow({ atNs }: Decision, { input, quote, verdict }: MarketReading): string[] {
  const { source, symbol } = input;
  if (quote === undefined) return ['', source, symbol, '', '', '', verdict];
  const { bid, ask, trade, timeNs } = quote;
  const sides =
    trade === undefined ? [bid, ask].map(formatDecimalPrice) : [formatDecimalPrice(trade), 'last trade'];
  const ageMs = Number((atNs - timeNs) / NS_PER_MS);
  return ['', source, symbol, ...sides, `${(ageMs / 1000).toFixed(1)} s`, verdict];
}
