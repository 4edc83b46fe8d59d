import { formatDecimalPrice } from '../client/verify/decimal_price.js';
import { NS_PER_MS } from '../model/time.js';
import type { Decision } from './decision.js';
import { isOffsetNamed } from './market_quote.js';
import type { MarketReading } from './market_reading.js';

const HEAD = ['asset', 'source', 'symbol', 'bid', 'ask', 'age', 'verdict'];
const GREEN = '\x1b[32m';
const RED = '\x1b[31m';
const PLAIN = '\x1b[0m';

/** The size of a table in characters. */
export interface TableSize {
  readonly columns: number;
  readonly rows: number;
}

const NO_LIMIT: TableSize = { columns: Number.POSITIVE_INFINITY, rows: Number.POSITIVE_INFINITY };

/**
 * Returns a table for people: one line for each asset with its price, and one for each of its markets. Assets without a price come first.
 * @param size the space for the table; the last line then gives the number of assets that have no place
 */
export function decisionTable(
  decisions: readonly Decision[],
  isColoured: boolean,
  { columns, rows }: TableSize = NO_LIMIT,
): string {
  const ordered = [...decisions].sort((one, other) => rankOf(one) - rankOf(other));
  const assets = ordered.map((decision) => [
    [decision.asset.symbol, '', '', '', '', '', shownPrice(decision)],
    ...decision.readings.map((reading) => readingRow(decision, reading)),
  ]);
  const fitting = fittingIn(rows, assets);
  const left = assets.length - fitting.length;
  const lines = fitting.flat().slice(0, Math.max(0, rows - (left > 0 ? 2 : 1)));
  const widths = HEAD.map((title, i) => Math.max(title.length, ...lines.map((row) => row[i]!.length)));
  const line = (row: readonly string[]) => {
    const padded = row.map((cell, i) => cell.padEnd(widths[i]!));
    return shortenedLine(padded.join('  ').trimEnd(), columns);
  };
  const isGood = (row: readonly string[]) => row[6] === 'used' || row[6]!.startsWith('price ');
  const coloured = (row: readonly string[]) => `${isGood(row) ? GREEN : RED}${line(row)}${PLAIN}`;
  const rest = left > 0 ? [shortenedLine(`${left} more`, columns)] : [];
  return [line(HEAD), ...lines.map(isColoured ? coloured : line), ...rest].join('\n');
}

/** Returns 0 for an asset without a price, and 1 for any other. */
function rankOf({ price }: Decision): number {
  return price === undefined ? 0 : 1;
}

/** Returns the assets that fit below the head, at least one. */
function fittingIn<Row>(rows: number, assets: readonly (readonly Row[])[]): readonly (readonly Row[])[] {
  let used = 1;
  let count = 0;
  for (const asset of assets) {
    used += asset.length;
    // The line with the number of the other assets needs a place too.
    if (used + (count + 1 < assets.length ? 1 : 0) > rows) break;
    count++;
  }
  return assets.slice(0, Math.max(1, count));
}

/** Shortens a line that would wrap. */
function shortenedLine(line: string, columns: number): string {
  return line.length <= columns ? line : `${line.slice(0, Math.max(0, columns - 1))}…`;
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
