import type { MarketSession } from '../sources/adapters/market.js';

/** A connection to a market, which is never reopened. */
export interface LiveConnection {
  /** Sends messages of the session in order. */
  send(texts: readonly string[]): void;
  close(): void;
}

/** The receiver of a connection's frames, and the connection's protocol. */
export interface LiveEvents {
  readonly session: MarketSession;
  readonly onOpen: () => void;
  readonly onText: (text: string) => void;
  /** Called once after any end of the connection, except after {@link LiveConnection.close}. */
  readonly onEnd: (reason: string) => void;
}

/** Starts a connection. Its events arrive later, never during this call. */
export type Connect = (events: LiveEvents) => LiveConnection;
