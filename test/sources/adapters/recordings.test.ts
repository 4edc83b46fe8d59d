import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { MARKETS } from '../../../src/sources/adapters/built_in.js';
import type { MarketSession } from '../../../src/sources/adapters/market.js';
import type { MarketQuote } from '../../../src/sources/market_quote.js';
import { parseAnyTime } from '../../../src/sources/market_time.js';
import type { BuiltInKind } from '../../../src/sources/sources_schema.js';
import { ROOT } from '../../pages.js';

// Recorded frames of the exchanges.

const FOLDER = join(ROOT, '../shared/recordings');
const skip = existsSync(FOLDER) ? false : 'the recordings of exchanges are not here';

interface RecordedFrame {
  readonly at: number | null;
  readonly dir: 'in' | 'out';
  readonly text: string;
  readonly exchange?: string;
}

interface Expected {
  readonly frame: number;
  readonly symbol: string;
  readonly bid: string;
  readonly ask: string;
  readonly time: string | number | null;
}

const lines = (file: string): RecordedFrame[] =>
  readFileSync(join(FOLDER, file), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as RecordedFrame);

const quotes = (session: MarketSession, text: string): MarketQuote[] =>
  session.read(text).flatMap((event) => (event.kind === 'quote' ? [event.quote] : []));

test('the digits and times of recorded quotes', { skip }, async (t) => {
  for (const [name, file, pair] of [
    ['kraken', 'kraken-v2-ticker', 'BTC/USD'],
    ['coinbase', 'coinbase-advanced-ticker', 'BTC/USD'],
    ['binance', 'binance-bookticker', 'BTC/USDT'],
    ['okx', 'okx-tickers-2026', 'BTC/USDT'],
    ['bybit', 'bybit-spot-orderbook1', 'BTC/USDT'],
  ] as const) {
    const expected = JSON.parse(readFileSync(join(FOLDER, `${file}.expected.json`), 'utf8')) as Expected[];
    const session = MARKETS[name].open([pair]);
    const found = lines(`${file}.jsonl`).map(({ dir, text }) => (dir === 'in' ? quotes(session, text) : []));
    t.equal(found.flat().length, expected.length, file);
    for (const { frame, bid, ask, time } of expected) {
      const [quote] = found[frame]!;
      t.match(quote, { symbol: pair, bid, ask }, `${file} ${frame}`);
      t.equal(quote!.atNs, parseAnyTime(time === null ? undefined : String(time)));
    }
  }
});

test('control frames are never quotes of nothing, and never malformed', { skip }, async (t) => {
  for (const { exchange, text, dir } of lines('control-frames.jsonl')) {
    const market = MARKETS[exchange as BuiltInKind];
    if (market === undefined || dir === 'out') continue;
    for (const event of market.open(['BTC/USD', 'BTC/USDT']).read(text)) {
      t.not(event.kind, 'malformed', text);
      if (event.kind === 'quote') t.ok(event.quote.bid && event.quote.ask, text);
    }
  }
});
