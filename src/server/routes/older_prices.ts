import type { AssetName } from '../../model/asset_map.js';
import type { PricedEntry } from '../../past/kept_entry.js';
import type { RangeQuestion } from '../../past/question_bytes.js';
import type { RouteError } from '../rest/route.js';

/** Verified aggregates from other nodes of the cluster, for times before the past of this node. */
export interface OlderPrices {
  /** Returns the aggregates that were in force at an instant. Assets without an aggregate are missing. */
  at(
    caller: string,
    names: readonly AssetName[],
    atNs: bigint,
  ): Promise<OlderAnswer<ReadonlyMap<AssetName, PricedEntry>>>;
  /** Returns the first aggregates of a range. */
  range(caller: string, question: RangeQuestion): Promise<OlderAnswer<OlderRows>>;
}

export interface OlderRows {
  readonly rows: readonly PricedEntry[];
  /** The end of the range that these rows complete. */
  readonly endNs: bigint;
}

export type OlderAnswer<T> =
  | { readonly given: T }
  | {
      readonly given?: undefined;
      /** True when a node has too many questions now. */
      readonly isBusy: boolean;
      /** The earliest time from which a node says that it keeps its past; `undefined` without such a node. */
      readonly keptFromNs: bigint | undefined;
    };

/** Returns the error when no other node has given an answer. @param own the error without other nodes */
export function notGiven(
  own: RouteError,
  { isBusy, keptFromNs }: Exclude<OlderAnswer<never>, { readonly given: never }>,
): RouteError {
  if (isBusy) return { status: 503, error: 'the nodes that may keep older signed prices are busy' };
  const isEarlier = keptFromNs !== undefined && (own.keptFromNs === undefined || keptFromNs < own.keptFromNs);
  return isEarlier ? { ...own, keptFromNs } : own;
}
