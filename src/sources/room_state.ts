import type { TimeNs } from '../model/time.js';
import { isRecord, isTexts } from './adapters/market.js';
import type { WithheldReason } from './decision.js';
import type { HeldQuote } from './market_quote.js';

// The state of a market room as plain data. A recording begins with this state, so a replay can start in the middle of a run.

/** A connection: its source, its symbols, and the frame that halted its market, if the market is halted. */
export interface OpenedConnection {
  readonly begin: number;
  readonly source: string;
  readonly symbols: readonly string[];
  readonly rest?: true | undefined;
  readonly resume?: string | undefined;
}

/** The newest quote of a market. Numbers are texts, because JSON numbers are not exact at this size. */
export interface SavedQuote {
  readonly market: string;
  readonly bid: string;
  readonly ask: string;
  readonly trade?: string | undefined;
  readonly time: string;
  readonly offset?: string | undefined;
}

/** The last decision and the last written line about an asset. */
export interface SavedAsset {
  readonly asset: string;
  readonly price?: string | undefined;
  readonly said?: string | undefined;
  readonly reason?: WithheldReason | undefined;
  readonly unsaid: number;
}

export interface DeciderState {
  readonly quotes: readonly SavedQuote[];
  readonly assets: readonly SavedAsset[];
}

export interface RoomState extends DeciderState {
  readonly connections: readonly OpenedConnection[];
}

export function saveQuote(market: string, { bid, ask, trade, timeNs, offsetNs }: HeldQuote): SavedQuote {
  return {
    market,
    bid: String(bid),
    ask: String(ask),
    trade: trade?.toString(),
    time: String(timeNs),
    offset: offsetNs?.toString(),
  };
}

export function loadQuote({ bid, ask, trade, time, offset }: SavedQuote): HeldQuote {
  return {
    bid: BigInt(bid),
    ask: BigInt(ask),
    trade: loadNumber(trade),
    timeNs: BigInt(time) as TimeNs,
    offsetNs: loadNumber(offset),
  };
}

export function loadNumber(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(text);
}

/** Returns whether a value of a recording has the form of a state. */
export function isRoomState(value: unknown): value is RoomState {
  if (!isRecord(value)) return false;
  const { connections, quotes, assets } = value;
  return (
    areRecords(connections) &&
    connections.every(isOpenedConnection) &&
    areRecords(quotes) &&
    quotes.every(
      ({ market, bid, ask, trade, time, offset }) =>
        typeof market === 'string' &&
        [bid, ask, time].every(isNumber) &&
        [trade, offset].every((text) => text === undefined || isNumber(text)),
    ) &&
    areRecords(assets) &&
    assets.every(
      ({ asset, price, said, unsaid }) =>
        typeof asset === 'string' &&
        typeof unsaid === 'number' &&
        [price, said].every((text) => text === undefined || isNumber(text)),
    )
  );
}

export function isOpenedConnection(value: unknown): value is OpenedConnection {
  if (!isRecord(value)) return false;
  const { begin, source, symbols, resume } = value;
  return (
    typeof begin === 'number' &&
    typeof source === 'string' &&
    isTexts(symbols) &&
    symbols.length > 0 &&
    (resume === undefined || typeof resume === 'string')
  );
}

function areRecords(value: unknown): value is Record<string, unknown>[] {
  return Array.isArray(value) && value.every(isRecord);
}

function isNumber(text: unknown): boolean {
  return typeof text === 'string' && /^-?\d{1,60}$/.test(text);
}
