import {
  type AnswerPaths,
  digitsOf,
  isRecord,
  type MarketEvent,
  type MarketSession,
  readFrame,
  recordOf,
  refusedEvent,
} from './adapters/market.js';
import { parseJsonDigits } from './digits.js';
import { parseAnyTime } from './market_time.js';

// Sources that answer in JSON and have no special protocol.

/** Reads the answers of an HTTP source for one symbol. */
export function answerSession(symbol: string, { price, bid, ask, at }: AnswerPaths): MarketSession {
  const read = (text: string): readonly MarketEvent[] => {
    let answer: unknown;
    try {
      answer = parseJsonDigits(text);
    } catch {
      return [{ kind: 'malformed', reason: 'the answer is not JSON' }];
    }
    const valueAt = (path: string | undefined) =>
      path === undefined ? undefined : digitsOf(atPath(answer, path));
    const quote = {
      symbol,
      bid: valueAt(bid),
      ask: valueAt(ask),
      trade: valueAt(price),
      // A time that is not at the place that the operator named must not become the time of receipt.
      atNs: at === undefined ? undefined : (parseAnyTime(valueAt(at)) ?? ('unreadable' as const)),
    };
    if (quote.bid === undefined && quote.ask === undefined && quote.trade === undefined)
      return [{ kind: 'malformed', reason: `the answer has nothing at ${price ?? bid}` }];
    return [{ kind: 'quote', quote }];
  };
  return { subscribe: () => [], unsubscribe: () => [], read };
}

/**
 * Reads lines such as `{"symbol":"BTC/USD","bid":"1","ask":"2","at":…}`. A line may have `price` instead of `bid` and `ask`, or `error` with the
 * reason for a missing price.
 */
export function lineSession(symbols: readonly string[]): MarketSession {
  const known = new Set(symbols);
  const read = (text: string) =>
    readFrame(text, parseJsonDigits, ({ symbol, bid, ask, price, at, error }): readonly MarketEvent[] => {
      if (typeof symbol !== 'string') return [{ kind: 'malformed', reason: 'the line has no symbol' }];
      if (!known.has(symbol)) return [];
      if (error !== undefined) return refusedEvent(symbol, error);
      const quote = {
        symbol,
        bid: digitsOf(bid),
        ask: digitsOf(ask),
        trade: digitsOf(price),
        atNs: parseAnyTime(at),
      };
      return [{ kind: 'quote', quote }];
    });
  return { subscribe: () => [], unsubscribe: () => [], read };
}

function atPath(value: unknown, path: string): unknown {
  const steps = [...path.matchAll(/\.([\w:-]+|\*)|\[(\d+)\]/g)];
  return steps.reduce<unknown>((inside, [, key, index]) => {
    if (index !== undefined) return Array.isArray(inside) ? inside[Number(index)] : undefined;
    if (key === '*') return Object.values(recordOf(inside))[0];
    return isRecord(inside) && Object.hasOwn(inside, key!) ? inside[key!] : undefined;
  }, value);
}
