import type { Market } from '../sources/adapters/market.js';
import { nearPairs } from '../sources/near_pairs.js';
import { fetchText } from './bounded_fetch.js';

/** The largest list of pairs; the longest known one has 3 MB. */
const LIST_BYTES_MAX = 32 * 1024 ** 2;

export interface PairReport {
  /** The pairs to subscribe. */
  readonly usable: readonly string[];
  /** The pairs that must not be used, each with its reason and with names that are like it. */
  readonly problems: readonly string[];
  /** The reason why the list could not be read; all pairs are then tried. */
  readonly unread: string | undefined;
}

/** Compares pairs with the exchange's own list, because some exchanges accept a pair that does not exist and stay silent. */
export async function checkPairs(
  market: Market,
  listUrl: string,
  pairs: readonly string[],
  signal: AbortSignal,
): Promise<PairReport> {
  const problems: string[] = [];
  const allowed = pairs.filter((pair) => {
    const objection = market.objection?.(pair);
    if (objection !== undefined) problems.push(`${pair}: ${objection}`);
    return objection === undefined;
  });
  let list: readonly string[];
  try {
    list = market.readPairs(await fetchText(listUrl, LIST_BYTES_MAX, {}, signal));
  } catch (error) {
    return {
      usable: allowed,
      problems,
      unread: `the list of pairs cannot be read: ${(error as Error).message}`,
    };
  }
  const known = new Set(list);
  const usable = allowed.filter((pair) => known.has(pair));
  for (const pair of allowed.filter((pair) => !known.has(pair))) {
    const near = nearPairs(pair, list);
    problems.push(
      `${pair}: no such pair trades here${near.length > 0 ? `; near it are ${near.join(', ')}` : ''}`,
    );
  }
  return { usable, problems, unread: undefined };
}
