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
import { parseRfc3339 } from './market_time.js';

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
      atNs: anyTime(valueAt(at)),
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
        atNs: anyTime(at),
      };
      return [{ kind: 'quote', quote }];
    });
  return { subscribe: () => [], unsubscribe: () => [], read };
}

/** The number of digits of a time in nanoseconds since 1970. */
const NS_DIGITS = 19;
/** A time since 1970 in seconds, milliseconds, microseconds or nanoseconds, perhaps with decimals. */
const DIGITS = /^(\d{10}(?:\d{3}){0,3})(?:\.(\d{1,40}))?$/;

/** Reads RFC 3339, or digits in seconds to nanoseconds. The number of digits before the point determines the unit. */
function anyTime(text: unknown): bigint | undefined {
  const [, whole, decimals = ''] = (typeof text === 'string' && DIGITS.exec(text)) || [];
  if (whole === undefined) return parseRfc3339(text);
  return BigInt((whole + decimals).padEnd(NS_DIGITS, '0').slice(0, NS_DIGITS));
}

function atPath(value: unknown, path: string): unknown {
  const steps = [...path.matchAll(/\.([\w-]+|\*)|\[(\d+)\]/g)];
  return steps.reduce<unknown>((inside, [, key, index]) => {
    if (index !== undefined) return Array.isArray(inside) ? inside[Number(index)] : undefined;
    if (key === '*') return Object.values(recordOf(inside))[0];
    return isRecord(inside) && Object.hasOwn(inside, key!) ? inside[key!] : undefined;
  }, value);
}
