import type { Market } from '../adapters/market.js';
import { nearPairs } from '../near_pairs.js';
import { fetchText } from './source_fetch.js';

/** The maximum size of a list of pairs. The largest known list is 3 MB. */
const LIST_BYTES_MAX = 32 * 1024 ** 2;

/** The functions that find out which pairs trade at a source. */
export interface PairList {
  /** Reads the pairs that trade now. */
  read(signal: AbortSignal): Promise<readonly string[]>;
  /** Returns the reason why the pair must not be used, although the source may accept it. */
  objection?(pair: string): string | undefined;
}

/** A pair that must not be used. The reason names similar pairs. */
export interface PairFault {
  readonly pair: string;
  readonly reason: string;
}

export interface PairReport {
  /** The pairs to which the feed subscribes. */
  readonly usable: readonly string[];
  readonly faults: readonly PairFault[];
  /** The reason why the list could not be read; the feed then tries all pairs. */
  readonly unread: string | undefined;
}

/** Returns the list of an exchange whose protocol tickseal implements. */
export function listOfMarket(market: Market, url: string): PairList {
  return {
    read: async (signal) => market.readPairs(await fetchText(url, LIST_BYTES_MAX, {}, signal)),
    objection: (pair) => market.objection?.(pair),
  };
}

/** Compares pairs with the exchange's list. Some exchanges accept a pair that does not exist, and stay silent. */
export async function checkPairs(
  list: PairList,
  pairs: readonly string[],
  signal: AbortSignal,
): Promise<PairReport> {
  const faults: PairFault[] = [];
  const allowed = pairs.filter((pair) => {
    const reason = list.objection?.(pair);
    if (reason !== undefined) faults.push({ pair, reason });
    return reason === undefined;
  });
  let known: ReadonlySet<string>;
  try {
    known = new Set(await list.read(signal));
    // In a maintenance, no pair of an exchange may trade.
    if (known.size === 0) throw new Error('no pair trades there');
  } catch (error) {
    const unread = `the list of pairs cannot be read: ${(error as Error).message.slice(0, REASON_CHARACTERS_MAX)}`;
    return { usable: allowed, faults, unread };
  }
  for (const pair of allowed.filter((pair) => !known.has(pair))) {
    const near = nearPairs(pair, [...known]);
    const hint = near.length > 0 ? `; near it are ${near.join(', ')}` : '';
    faults.push({ pair, reason: `no such pair trades here${hint}` });
  }
  return { usable: allowed.filter((pair) => known.has(pair)), faults, unread: undefined };
}

const REASON_CHARACTERS_MAX = 200;
