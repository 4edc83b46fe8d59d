import { foreignText } from '../../wire/foreign_text.js';
import type { MarketQuote } from '../market_quote.js';

/** The protocol of an exchange: texts in, events out. Pairs are always written BASE/QUOTE, for every exchange. */
export interface Market {
  readonly url: string;
  readonly pairsUrl: string;
  readonly top: MarketTop;
  readonly rules: MarketRules;
  /** Reads the list of the pairs that trade now. Throws when the text has another form. */
  readPairs(text: string): string[];
  /** Returns the reason why the pair must not be used, although the exchange may accept it. */
  objection?(pair: string): string | undefined;
  /** Begins a connection. All state of the protocol is in the session, so a new connection begins without state. */
  open(pairs: readonly string[]): MarketSession;
}

/** The request for the best prices of a pair whose socket is silent. */
export interface MarketTop {
  /** The address; `{symbol}` stands for the exchange's name of the pair. */
  readonly url: string;
  nameOf(pair: string): string;
  readonly paths: AnswerPaths;
}

/** The paths to the values in an answer, such as `$.rates.USD`; `*` stands for the first value of an object. */
export interface AnswerPaths {
  readonly price?: string | undefined;
  readonly bid?: string | undefined;
  readonly ask?: string | undefined;
  readonly at?: string | undefined;
}

export interface MarketRules {
  /** The time without any frame after which a connection counts as dead. */
  readonly silenceMs: number;
  /** The interval of {@link MarketSession.ping}; absent for an exchange that sends frames often enough. */
  readonly pingMs?: number;
  /** The pause between two messages to the exchange. */
  readonly pauseMs: number;
  readonly pairsPerSocket: number;
  /** The age at which a connection is replaced, before the exchange ends it. */
  readonly renewMs: number;
}

export interface MarketSession {
  readonly ping?: string;
  /** Returns the messages that subscribe to pairs. The first message also subscribes to heartbeats. */
  subscribe(pairs: readonly string[]): string[];
  unsubscribe(pairs: readonly string[]): string[];
  /** Returns a frame that puts a new session into the same halt as this session; `undefined` while the market trades. */
  halt?(): string | undefined;
  /** Reads a frame. A frame without news, such as a heartbeat, has no events. */
  read(text: string): readonly MarketEvent[];
}

export type MarketEvent =
  | { readonly kind: 'quote'; readonly quote: MarketQuote }
  | { readonly kind: 'subscribed'; readonly pairs: readonly string[] }
  /** The exchange refused a pair, or a whole message if the pair is unknown. */
  | { readonly kind: 'refused'; readonly pair: string | undefined; readonly reason: string }
  /** The exchange stays connected but has stopped trading, so its quotes no longer count. */
  | { readonly kind: 'halted'; readonly reason: string }
  /** The exchange will soon end the connection, or frames were lost. The connection must be replaced. */
  | { readonly kind: 'ending'; readonly reason: string }
  | { readonly kind: 'malformed'; readonly reason: string };

export const DAY_MS = 86_400_000;

/** Reads a frame with `read`. A text that is not a JSON object is malformed. */
export function readFrame(
  text: string,
  parse: (text: string) => unknown,
  read: (frame: Record<string, unknown>) => readonly MarketEvent[],
): readonly MarketEvent[] {
  let frame: unknown;
  try {
    frame = parse(text);
  } catch {
    return [{ kind: 'malformed', reason: 'the frame is not JSON' }];
  }
  return isRecord(frame) ? read(frame) : [{ kind: 'malformed', reason: 'the frame is not a JSON object' }];
}

export function quoteEvent(quote: MarketQuote): readonly MarketEvent[] {
  return [{ kind: 'quote', quote }];
}

export function refusedEvent(pair: string | undefined, reason: unknown): readonly MarketEvent[] {
  const text = typeof reason === 'string' ? foreignText(reason) : 'no reason given';
  return [{ kind: 'refused', pair, reason: text }];
}

/** Returns the pair whose name occurs in a refusal. */
export function pairNamedIn(reason: unknown, names: ReadonlyMap<string, string>): string | undefined {
  if (typeof reason !== 'string') return undefined;
  const words = new Set(reason.split(/[^\w/-]+|orderbook\.1\./));
  for (const [name, pair] of names) if (words.has(name)) return pair;
  return undefined;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/**
 * Returns the list of pairs in an answer. An exchange may send an error with status 200.
 * @throws Error for an answer without a list: a missing list must not count as an empty one
 */
export function answeredList(text: string, listOfAnswer: (answer: unknown) => unknown): readonly unknown[] {
  const answer: unknown = JSON.parse(text);
  const list = listOfAnswer(answer);
  if (Array.isArray(list)) return list;
  throw new Error(`the answer has no list: ${foreignText(JSON.stringify(answer))}`);
}

export function recordOf(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the digits of a price: a text as it is, or the shortest text of a double. Any other value is not a price. */
export function digitsOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : undefined;
}

/** Returns the best price of one side of a book with levels `[price, size, …]`. A level of size 0 is gone. */
export function bestOf(levels: unknown): string | undefined {
  const best = listOf(levels).find((level) => !NOTHING.test(digitsOf(listOf(level)[1]) ?? ''));
  return digitsOf(listOf(best)[0]);
}

/** A size of 0, which means that there is no order. */
const NOTHING = /^0+(?:\.0*)?$/;

/** Maps the exchange's names of pairs to the pairs. */
export function namesOf(
  pairs: readonly string[],
  nameOf: (pair: string) => string,
): ReadonlyMap<string, string> {
  return new Map(pairs.map((pair) => [nameOf(pair), pair]));
}

/** Splits a list into parts, because an exchange limits the number of pairs in a message. */
export function slicesOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) =>
    items.slice(i * size, (i + 1) * size),
  );
}
