import { NS_PER_MS } from '../model/time.js';
import { sharedOrderBooks } from './order_books.js';
import type { SourcesPlan } from './plan.js';

/** Returns what the operator must know about a file without errors, in sentences. */
export function planRemarks({ sources, assets }: SourcesPlan): string[] {
  const slow = assets.flatMap(({ symbol, inputs, maxAgeNs }) =>
    inputs.flatMap((input) => {
      const source = sources.get(input.source)!;
      if (source.kind !== 'http' || source.every <= maxAgeNs) return [];
      const [every, maxAge] = [source.every, maxAgeNs].map((ns) => `${Number(ns / NS_PER_MS) / 1000} s`);
      return `${symbol}: ${input.source} is asked every ${every}, but max_age is ${maxAge}, so it will mostly be stale`;
    }),
  );
  return [...sharedOrderBooks(sources), ...slow];
}
