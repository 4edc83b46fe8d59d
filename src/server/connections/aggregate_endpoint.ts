import { AggregateSession, type AggregateTerms } from '../../stream/aggregate_group.js';
import type { AggregateStreams } from '../../stream/aggregate_streams.js';
import { SUBSCRIBE_PATHS } from '../../wire/paths.js';
import { SIGNATURE_TYPES } from '../../wire/signatures.js';
import type { BudgetDirectory } from '../access/caller_budgets.js';
import { PerCaller } from '../access/per_caller.js';
import { type Endpoint, type ReaderLimits, readerPath } from './connection.js';

export interface AggregateEndpointOptions extends ReaderLimits {
  readonly budgets: BudgetDirectory;
  readonly aggregates: AggregateStreams;
}

/** Makes the endpoints `/evm/subscribe` and `/stark/subscribe`. */
export function aggregateEndpoints(options: AggregateEndpointOptions): readonly Endpoint[] {
  const { aggregates, budgets } = options;
  return SIGNATURE_TYPES.map((signatureType) => {
    const terms = new PerCaller(
      (caller): AggregateTerms => ({
        streams: aggregates,
        rights: caller,
        budgets: budgets.of(caller),
        signatureType,
      }),
    );
    return {
      path: readerPath(SUBSCRIBE_PATHS[signatureType], options),
      scope: 'stream',
      accept: (_query, caller) => (socket) => new AggregateSession(socket, terms.of(caller)),
    };
  });
}
