import type { MarketEvent, MarketSession } from '../adapters/market.js';

/** The connection of one source's frames to the process. */
export interface MarketFeed {
  open(): void;
  /** Begins all connections again. Frames that have arrived but are not yet read are lost. */
  renew(reason: string): void;
  close(): void;
}

/** The receiver of all sources' frames. The sink numbers the connections. */
export interface FrameSink {
  /** @param isRest true for REST answers about one pair of an exchange */
  begin(
    symbols: readonly string[],
    isRest?: boolean,
  ): { readonly connection: number; readonly session: MarketSession };
  end(connection: number): void;
  read(connection: number, text: string): readonly MarketEvent[];
  /** Reports how many pairs of the file the source lacks. */
  lacks(pairs: number): void;
  /** Reports a message to the operator. Each text is reported at most once per period. */
  warn(text: string): void;
}

/** Returns the delay before the next attempt: from 0.25 s, doubled after each failure, up to 30 s. Half of the delay is random. */
export function retryDelayMs(failures: number, random: number): number {
  const longest = Math.min(RETRY_DELAY_MS_MAX, RETRY_DELAY_MS_MIN * 2 ** Math.min(failures, 10));
  return Math.max(RETRY_DELAY_MS_MIN, longest * (0.5 + random / 2));
}

const RETRY_DELAY_MS_MIN = 250;
const RETRY_DELAY_MS_MAX = 30_000;
