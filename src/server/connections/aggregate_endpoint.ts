import type { SignatureType } from '../../model/asset.js';
import { AggregateSession } from '../../stream/aggregate_group.js';
import type { AggregateStreams } from '../../stream/aggregate_streams.js';
import { NOTHING_SENT } from '../../stream/reader_session.js';
import { SUBSCRIBE_PATHS } from '../../wire/paths.js';
import { SIGNATURE_TYPES } from '../../wire/signatures.js';
import type { BudgetDirectory, CallerBudgets } from '../access/caller_budgets.js';
import type { Caller } from '../access/logins.js';
import {
  type Connection,
  type ConnectionEvents,
  type Endpoint,
  type ReaderLimits,
  readerPath,
} from './connection.js';

export interface AggregateEndpointOptions extends ReaderLimits {
  readonly budgets: BudgetDirectory;
  readonly aggregates: AggregateStreams;
}

/** `/evm/subscribe` and `/stark/subscribe`. */
export function aggregateEndpoints(options: AggregateEndpointOptions): readonly Endpoint[] {
  const { aggregates, budgets } = options;
  return SIGNATURE_TYPES.map((type) => ({
    path: readerPath(SUBSCRIBE_PATHS[type], options),
    scope: 'stream',
    accept: (_query, caller) => (socket) =>
      new AggregateSocket(aggregates, socket, caller, budgets.of(caller), type),
  }));
}

/** The session and its events in one object, for there may be tens of thousands. */
class AggregateSocket extends AggregateSession implements ConnectionEvents {
  constructor(
    readonly aggregates: AggregateStreams,
    socket: Connection,
    caller: Caller,
    budgets: CallerBudgets,
    type: SignatureType,
  ) {
    super(socket, caller, budgets, type);
  }

  text(text: string): void {
    this.aggregates.receive(this, text);
  }

  oversize(messageBytes: number): void {
    this.aggregates.refuseOversize(this, messageBytes);
  }

  lagged(sequence: number): void {
    this.aggregates.lagged(this, sequence);
  }

  drained(bufferedBytes: number): void {
    this.aggregates.drained(this, bufferedBytes);
  }

  /** What it alone was sent did not fit behind what waits for it: all of its assets are due when it has drained. */
  dropped(): void {
    this.aggregates.lagged(this, NOTHING_SENT);
  }

  silent(): void {}

  heard(): void {}

  closed(): void {
    this.aggregates.closed(this);
  }
}
