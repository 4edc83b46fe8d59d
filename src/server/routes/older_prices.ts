import type { LineEntry } from '../../log/past/past_entry.js';
import type { RangeQuestion } from '../../log/past/past_question.js';
import type { AssetName } from '../../model/asset_map.js';
import type { RouteError } from '../rest/route.js';

/** Verified aggregates from other nodes of the cluster, for times before the past of this node. */
export interface OlderPrices {
  /** Returns the aggregates that were in force at an instant. The result omits assets without an aggregate. */
  at(
    caller: string,
    names: readonly AssetName[],
    atNs: bigint,
  ): Promise<OlderAnswer<ReadonlyMap<AssetName, LineEntry>>>;
  /** Returns the first aggregates of a range. */
  range(caller: string, question: RangeQuestion): Promise<OlderAnswer<OlderRows>>;
}

export interface OlderRows {
  readonly rows: readonly LineEntry[];
  /** The time up to which these rows are complete. */
  readonly endNs: bigint;
}

export type OlderAnswer<T> =
  | { readonly given: T }
  | {
      readonly given?: undefined;
      /** True if a node currently has too many questions. */
      readonly isBusy: boolean;
      /** The earliest beginning of a past that a node reported; `undefined` if no node reported a beginning. */
      readonly keptFromNs: bigint | undefined;
    };

/** Returns the error for a question that no other node has answered. @param own the error of this node alone */
export function notGiven(
  own: RouteError,
  { isBusy, keptFromNs }: Exclude<OlderAnswer<never>, { readonly given: never }>,
): RouteError {
  if (isBusy) return { status: 503, error: 'the nodes that may keep older signed prices are busy' };
  const isEarlier = keptFromNs !== undefined && (own.keptFromNs === undefined || keptFromNs < own.keptFromNs);
  return isEarlier ? { ...own, keptFromNs } : own;
}
