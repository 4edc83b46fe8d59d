import type { SignedAggregate } from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import type { ShownFacts } from '../records/signed_line.js';

/**
 * An entry in the past of an asset: an aggregate, the end of its price, or a gap. After a gap, which a failed disk or a long absence causes, the aggregate is
 * unknown until the next entry.
 */
export type KeptEntry = PricedEntry | EndEntry;

export interface PricedEntry {
  readonly kind: 'priced';
  /** The time at which the aggregate was signed. */
  readonly timeNs: TimeNs;
  /** True for a carried copy: an entry of an earlier hour that was the asset's newest when this hour began. */
  readonly isCarried: boolean;
  /** The aggregate. The inputs are empty after their retention time. */
  readonly aggregate: SignedAggregate;
  readonly hasInputs: boolean;
  readonly shown: ShownFacts;
}

export interface EndEntry {
  readonly kind: 'ended' | 'gap';
  readonly timeNs: TimeNs;
  readonly isCarried: boolean;
}

/**
 * Returns whether an entry comes after another entry of the same asset. Signed times grow strictly; a price may end at the time of its
 * signature.
 */
export function isAfter(entry: KeptEntry, other: KeptEntry): boolean {
  if (entry.timeNs !== other.timeNs) return entry.timeNs > other.timeNs;
  return entry.kind !== 'priced' && other.kind === 'priced';
}

/** Returns the entry of a gap that begins at a time. */
export function gapFrom(timeNs: bigint): KeptEntry {
  return { kind: 'gap', timeNs: timeNs as TimeNs, isCarried: false };
}

/** Keeps the later one of the known entry and this entry. */
export function keepNewest(entries: Map<string, KeptEntry>, assetKey: string, entry: KeptEntry): void {
  const known = entries.get(assetKey);
  if (known === undefined || isAfter(entry, known)) entries.set(assetKey, entry);
}
