import type { Market, MarketEvent, MarketSession } from '../../../src/sources/adapters/market.js';

/** Begins a session that has subscribed to the pairs. */
export function sessionOf(market: Market, ...pairs: string[]): MarketSession {
  const session = market.open(pairs);
  session.subscribe(pairs);
  return session;
}

/** Returns the quotes among the events of a text or frame. */
export function quotesIn(session: MarketSession, frame: unknown) {
  return eventsOf(session, frame).flatMap((event) => (event.kind === 'quote' ? [event.quote] : []));
}

/** Reads a frame from its text or from its parsed JSON. */
export function eventsOf(session: MarketSession, frame: unknown): readonly MarketEvent[] {
  return session.read(typeof frame === 'string' ? frame : JSON.stringify(frame));
}
