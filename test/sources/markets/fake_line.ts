import { MARKETS } from '../../../src/sources/adapters/built_in.js';
import type { MarketQuote } from '../../../src/sources/market_quote.js';
import { ExchangeFeed } from '../../../src/sources/markets/exchange_feed.js';
import type { LiveEvents } from '../../../src/sources/markets/live_connection.js';
import { ManualTime } from './manual_time.js';

/** A connection to the test. */
export interface FakeConnection {
  readonly events: LiveEvents;
  readonly sent: string[];
  isClosed: boolean;
}

/** The feed of a fake Binance. The test controls the connections and REST. */
export class FakeLine {
  readonly time = new ManualTime();
  readonly connections: FakeConnection[] = [];
  readonly warnings: string[] = [];
  /** The pairs of pending REST requests; the test answers them. */
  readonly asked: { readonly pair: string; readonly answer: (quote: MarketQuote) => void }[] = [];
  readonly feed: ExchangeFeed;

  constructor(pairs: readonly string[]) {
    const market = MARKETS.binance;
    const nowMs = () => Number(this.time.nowNs() / 1_000_000n);
    let last = 0;
    const sessions = new Map<number, ReturnType<typeof market.open>>();
    this.feed = new ExchangeFeed({
      rules: market.rules,
      connect: (events) => {
        const connection: FakeConnection = { events, sent: [], isClosed: false };
        this.connections.push(connection);
        return {
          send: (texts) => void connection.sent.push(...texts),
          close: () => {
            connection.isClosed = true;
          },
        };
      },
      pairs: new Map(pairs.map((pair) => [pair, 10_000])),
      sink: {
        begin: (symbols) => {
          const session = market.open(symbols);
          sessions.set(++last, session);
          return { connection: last, session };
        },
        end: (connection) => void sessions.delete(connection),
        read: (connection, text) => sessions.get(connection)?.read(text) ?? [],
        lacks: () => {},
        warn: (text) => void this.warnings.push(text),
      },
      schedule: this.time.schedule,
      nowMs,
      random: () => 0.5,
      asker: {
        ask: (pair, { isNeeded, onQuote }) => {
          const answer = (quote: MarketQuote) => (isNeeded() ? onQuote(quote) : undefined);
          this.asked.push({ pair, answer });
        },
        close: () => {},
      },
    });
    this.feed.open();
  }

  get newest(): FakeConnection {
    return this.connections.at(-1)!;
  }

  get alive(): FakeConnection[] {
    return this.connections.filter(({ isClosed }) => !isClosed);
  }

  /** Sends best prices on a connection. */
  show(pair: string, bid: string, ask: string, connection = this.newest): void {
    connection.events.onText(JSON.stringify({ data: { s: pair.replace('/', ''), b: bid, a: ask } }));
  }
}
