import type { Problem } from '../config/document.js';
import type { SourcesPlan } from './plan.js';

/** An error in the file that only the source can show: the source lacks a pair or cannot be used. */
export interface SourceFault {
  readonly source: string;
  /** The pair, or the wrong key of the source. */
  readonly at: { readonly pair: string } | { readonly key: string };
  readonly reason: string;
}

/** Returns where a fault is in the file: each input with its pair, or the key of its source. */
export function faultProblems({ assets }: SourcesPlan, { source, at, reason }: SourceFault): Problem[] {
  if ('key' in at) return [{ path: ['sources', source, at.key], message: reason }];
  return assets.flatMap(({ symbol, inputs }) =>
    [...inputs.entries()]
      .filter(([, input]) => input.source === source && input.symbol === at.pair)
      .map(([place]) => ({
        path: ['assets', symbol, 'from', place],
        message: `${source} ${at.pair}: ${reason}`,
      })),
  );
}
