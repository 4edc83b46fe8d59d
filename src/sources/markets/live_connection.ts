import type { MarketSession } from '../adapters/market.js';

/** A connection to a market. It is never reopened. */
export interface LiveConnection {
  /** Sends messages of the session, in order. */
  send(texts: readonly string[]): void;
  close(): void;
}

/** The protocol of a connection and the receiver of its frames. */
export interface LiveEvents {
  readonly session: MarketSession;
  readonly onOpen: () => void;
  readonly onText: (text: string) => void;
  /**
   * Called once when the connection ends for any reason except {@link LiveConnection.close}.
   * @param stopMs the time for which the server must be left alone, if it said so
   */
  readonly onEnd: (reason: string, stopMs?: number) => void;
}

/** Starts a connection. Its events arrive later, never during this call. */
export type Connect = (events: LiveEvents) => LiveConnection;
