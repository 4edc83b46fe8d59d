import type { TimeNs } from '../model/time.js';
import { isRecord, isTexts } from './adapters/market.js';
import { ClockOffset } from './clock_offset.js';
import type { WithheldReason } from './decision.js';
import type { HeldMarket } from './held_market.js';
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

/** A market's newest quote. Numbers are texts, because JSON numbers are not exact at this size. */
export interface SavedQuote {
  readonly bid: string;
  readonly ask: string;
  readonly trade?: string | undefined;
  readonly time: string;
  readonly received: string;
  readonly own?: string | undefined;
  readonly timeless?: true | undefined;
  readonly offset?: string | undefined;
  readonly proven?: string | undefined;
  readonly moved: string;
}

/** A market: its newest quote, and the delays of its frames in each ten seconds. */
export interface SavedMarket {
  readonly market: string;
  readonly quote?: SavedQuote | undefined;
  /** The ten seconds of the first frame. */
  readonly first?: string | undefined;
  /** For each ten seconds: their number, the number of frames, and the least delay. */
  readonly delays: readonly (readonly [string, number, string])[];
}

/** The last decision and the last written line about an asset. */
export interface SavedAsset {
  readonly asset: string;
  readonly price?: string | undefined;
  readonly said?: string | undefined;
  readonly reason?: WithheldReason | undefined;
  readonly unsaid: number;
  /** The verdicts and the time of the last written line without a price. */
  readonly verdicts: string;
  readonly at: string;
}

export interface DeciderState {
  /** The wall clock minus the clock of the recording. */
  readonly shift: string;
  readonly markets: readonly SavedMarket[];
  readonly assets: readonly SavedAsset[];
}

export interface RoomState extends DeciderState {
  readonly connections: readonly OpenedConnection[];
}

export function saveMarket(market: string, { quote, offset }: HeldMarket): SavedMarket {
  const { buckets, first } = offset.saved;
  return {
    market,
    quote: quote && saveQuote(quote),
    first: first?.toString(),
    delays: buckets.map(({ bucket, frames, leastNs }) => [String(bucket), frames, String(leastNs)]),
  };
}

export function loadMarket({ quote, first, delays }: SavedMarket, market: HeldMarket): void {
  const buckets = delays.map(([bucket, frames, leastNs]) => ({
    bucket: BigInt(bucket),
    frames,
    leastNs: BigInt(leastNs),
  }));
  market.quote = quote && loadQuote(quote);
  market.offset = new ClockOffset(buckets, loadNumber(first));
}

function saveQuote({ bid, ask, trade, isTimeless, ...times }: HeldQuote): SavedQuote {
  return {
    bid: String(bid),
    ask: String(ask),
    trade: trade?.toString(),
    time: String(times.timeNs),
    received: String(times.receivedNs),
    own: times.ownNs?.toString(),
    timeless: isTimeless || undefined,
    offset: times.offsetNs?.toString(),
    proven: times.provenNs?.toString(),
    moved: String(times.movedNs),
  };
}

function loadQuote({ bid, ask, trade, timeless, ...times }: SavedQuote): HeldQuote {
  return {
    bid: BigInt(bid),
    ask: BigInt(ask),
    trade: loadNumber(trade),
    timeNs: BigInt(times.time) as TimeNs,
    receivedNs: BigInt(times.received) as TimeNs,
    ownNs: loadNumber(times.own),
    isTimeless: timeless === true,
    offsetNs: loadNumber(times.offset),
    provenNs: loadNumber(times.proven) as TimeNs | undefined,
    movedNs: BigInt(times.moved) as TimeNs,
  };
}

export function loadNumber(text: string | undefined): bigint | undefined {
  return text === undefined ? undefined : BigInt(text);
}

/** Returns whether a value of a recording has the form of a state. */
export function isRoomState(value: unknown): value is RoomState {
  if (!isRecord(value)) return false;
  const { shift, connections, markets, assets } = value;
  return (
    isNumber(shift) &&
    areRecords(connections) &&
    connections.every(isOpenedConnection) &&
    areRecords(markets) &&
    markets.every(isSavedMarket) &&
    areRecords(assets) &&
    assets.every(
      ({ asset, price, said, unsaid, verdicts, at }) =>
        typeof asset === 'string' &&
        typeof unsaid === 'number' &&
        typeof verdicts === 'string' &&
        isNumber(at) &&
        [price, said].every(isMaybeNumber),
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

function isSavedMarket({ market, quote, first, delays }: Record<string, unknown>): boolean {
  const isDelay = (delay: unknown) =>
    Array.isArray(delay) && isNumber(delay[0]) && typeof delay[1] === 'number' && isNumber(delay[2]);
  return (
    typeof market === 'string' &&
    (quote === undefined || isSavedQuote(quote)) &&
    isMaybeNumber(first) &&
    Array.isArray(delays) &&
    delays.every(isDelay)
  );
}

function isSavedQuote(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { bid, ask, trade, time, received, own, offset, proven, moved } = value;
  return (
    [bid, ask, time, received, moved].every(isNumber) && [trade, own, offset, proven].every(isMaybeNumber)
  );
}

function areRecords(value: unknown): value is Record<string, unknown>[] {
  return Array.isArray(value) && value.every(isRecord);
}

function isMaybeNumber(text: unknown): boolean {
  return text === undefined || isNumber(text);
}

function isNumber(text: unknown): boolean {
  return typeof text === 'string' && /^-?\d{1,60}$/.test(text);
}
