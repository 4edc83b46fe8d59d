import { DEFAULT_SIGNATURE_TYPE, SIGNATURES } from '../../wire/signatures.js';
import {
  type AttributeValues,
  formatDecimalPrice,
  type MarketStatusName,
  type Taxonomy,
  type TaxonomyAsset,
} from '../index.js';

/** The number of decimals of every price. */
const PRICE_DECIMALS = 18;
/** The number of digits of a price in the table, without leading zeros. The proof shows all digits. */
const DIGITS_SHOWN = 6;
const DECIMALS_MIN = 2;
/** The minus sign of printed numbers, which is as wide as a digit. The chart uses the same sign. */
const MINUS = '−';
const MOMENT = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/;

/**
 * Returns the number of decimals for prices near this price. A column keeps this number, so that its digits stay in place.
 */
export function shownDecimals(price: bigint): number {
  const digits = (price < 0n ? -price : price).toString().length;
  return Math.min(Math.max(DIGITS_SHOWN - (digits - PRICE_DECIMALS), DECIMALS_MIN), PRICE_DECIMALS);
}

/**
 * Writes the price with this number of decimals and with commas between thousands. Further decimals are cut off, not rounded.
 */
export function shownPrice(price: bigint, decimals: number): string {
  const [whole = '0', fraction = ''] = formatDecimalPrice(price).split('.');
  const shown = fraction.padEnd(decimals, '0').slice(0, decimals);
  return shown === '' ? wholeText(whole) : `${wholeText(whole)}.${shown}`;
}

/** Converts a price to the nearest double, which is exact enough to draw. */
export function doubleOf(price: bigint): number {
  return Number(formatDecimalPrice(price));
}

/** Converts the double of a candle to a price with nine decimals, which is exact enough to draw. */
export function priceOfDouble(price: number): bigint {
  return BigInt(Math.round(price * 1e9)) * 10n ** 9n;
}

/** Writes the title of the page: `95,028.76 BTCUSD · verified`; without a price, the symbol and its seal. */
export function titleText(symbol: string, price: bigint | undefined, seal: string): string {
  const shown = price === undefined ? '' : `${shownPrice(price, shownDecimals(price))} `;
  return `${shown}${symbol} · ${seal}`;
}

/**
 * Writes the exact price, with commas between thousands. The price has at least the decimals of the table, so that prices under
 * each other can be compared digit by digit.
 */
export function exactPrice(price: bigint): string {
  const [, fraction = ''] = formatDecimalPrice(price).split('.');
  return shownPrice(price, Math.max(fraction.length, shownDecimals(price)));
}

/** Converts a relative change to whole hundredths of a percent, as shown. */
export function changeSteps(change: number): number {
  return Math.round(change * 10_000);
}

/** Writes a relative change as `+1.23%`. */
export function changeText(change: number): string {
  const steps = changeSteps(change);
  return signedText(steps, `${(Math.abs(steps) / 100).toFixed(2)}%`);
}

/** Writes digits with the sign of a number; 0 has no sign. */
function signedText(sign: number, digits: string): string {
  return `${sign < 0 ? MINUS : sign > 0 ? '+' : ''}${digits}`;
}

/** Writes an age: `0.4 s`, `12 s`, `3 min`, `2 h`, `4 d`. An age below 0 counts as 0. */
export function ageText(ageMs: number): string {
  const seconds = Math.max(ageMs, 0) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 100) return `${Math.floor(seconds)} s`;
  if (seconds < 6_000) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

/** Writes the first and the last digits of a key or hash. */
export function shortHex(text: string): string {
  return text.length <= 16 ? text : `${text.slice(0, 8)}…${text.slice(-6)}`;
}

/**
 * Writes the line under a price: `Stream = aggregate, 0.0 bp · 3 publishers within 0.9 bp · 0.4 s`. The parts after the first one are signed
 * attributes of one frame, so they belong to one time.
 * @param match the first part; empty before it is known
 */
export function agreementText({ inputAgeMs, publishers, spreadPpm }: AttributeValues, match: string): string {
  const within = publishers === 1 || spreadPpm == null ? '' : ` within ${(spreadPpm / 100).toFixed(1)} bp`;
  const count =
    publishers == null ? '' : `${publishers} ${publishers === 1 ? 'publisher' : `publishers${within}`}`;
  return [match, count, inputAgeMs == null ? '' : ageText(inputAgeMs)]
    .filter((part) => part !== '')
    .join(' · ');
}

/** Compares the stream with the aggregate of a price, in hundredths of a percent; empty for a price of 0. */
export function matchText(difference: bigint, price: bigint): string {
  if (price === 0n) return '';
  const tenths = Number((difference * 100_000n) / (price < 0n ? -price : price));
  const points = signedText(tenths, `${(Math.abs(tenths) / 10).toFixed(1)} bp`);
  return tenths === 0 ? `Stream = aggregate, ${points}` : `Stream ${points} against the aggregate`;
}

const MARKET_TEXTS: Readonly<Record<MarketStatusName, string>> = {
  closed: 'closed',
  'regular hours': 'open',
  'extended hours': 'pre-market',
  'after hours': 'after hours',
};

/** Describes the status of a market. @param status the status in the newest value; `undefined` without a value */
export function marketText(calendar: string, status: MarketStatusName | undefined): string {
  if (status !== undefined) return MARKET_TEXTS[status] ?? '';
  return calendar === 'none' ? '24/7' : '';
}

/** Returns the text beside a symbol: the signature type unless it is EVM, and the origin of the price in a demo with real prices. */
export function typeText({ signatureType, simulation }: TaxonomyAsset): string {
  const type = signatureType === DEFAULT_SIGNATURE_TYPE ? '' : SIGNATURES[signatureType].title;
  if (simulation === undefined) return type;
  return `${type} ${simulation ? 'simulated' : 'real'}`.trim();
}

/** Returns the text of the tag in the page's bar; an empty text when no price is simulated. */
export function simulationText({ simulation, assets }: Pick<Taxonomy, 'simulation' | 'assets'>): string {
  const simulated = assets.filter((asset) => asset.simulation === true).length;
  const real = assets.filter((asset) => asset.simulation === false).length;
  if (simulation || (simulated > 0 && real === 0)) return 'simulated';
  return simulated === 0 ? '' : `${real} real, ${simulated} simulated`;
}

/** Writes a time in UTC to the nanosecond: `2026-11-22 01:02:03.123456789`. */
export function timeText(timestampNs: bigint): string {
  const seconds = timestampNs / 1_000_000_000n;
  const [day, time = ''] = new Date(Number(seconds) * 1000).toISOString().split('T');
  const fraction = (timestampNs % 1_000_000_000n).toString().padStart(9, '0');
  return `${day} ${time.slice(0, 8)}.${fraction}`;
}

/** Writes an instant in UTC with the digits that it has: `2026-11-20 12:00:00 UTC`. */
export function momentText(timestampNs: bigint): string {
  return `${timeText(timestampNs).replace(/\.?0+$/, '')} UTC`;
}

/** Reads a time such as `2026-11-20T12:00:00Z`, with up to nine decimals. @returns UNIX ns; `undefined` for another text */
export function readMoment(text: string | undefined): bigint | undefined {
  const [, seconds, fraction = ''] = MOMENT.exec(text ?? '') ?? [];
  const ms = Date.parse(`${seconds}Z`);
  return Number.isNaN(ms) ? undefined : BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0'));
}

/** Writes the time of day: `01:02:03 UTC`. */
export function clockText(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(11, 19)} UTC`;
}

/** Writes a whole number with the printed minus, and commas between thousands. */
function wholeText(whole: string): string {
  return whole.replace('-', MINUS).replace(/\B(?=(\d{3})+$)/g, ',');
}
