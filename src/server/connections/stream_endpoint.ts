import type { StreamEngine } from '../../stream/engine.js';
import { StreamSession } from '../../stream/group.js';
import { NOTHING_SENT } from '../../stream/reader_session.js';
import { parseStreamOptions, type StreamQuery } from '../../stream/stream_options.js';
import { STREAM_PATH } from '../../wire/paths.js';
import type { BudgetDirectory, CallerBudgets } from '../access/caller_budgets.js';
import type { Caller } from '../access/logins.js';
import { failure } from '../http/rest_exchange.js';
import {
  type Connection,
  type ConnectionEvents,
  type Endpoint,
  type ReaderLimits,
  readerPath,
} from './connection.js';

export interface StreamEndpointOptions extends ReaderLimits {
  readonly budgets: BudgetDirectory;
  readonly stream: StreamEngine;
  /** Whether there is a key for `signed_ecdsa`. */
  readonly signsPayloads: () => boolean;
}

/** `/ws`. */
export function streamEndpoint(options: StreamEndpointOptions): Endpoint {
  const { stream, signsPayloads, budgets } = options;
  return {
    path: readerPath(STREAM_PATH, options),
    scope: 'stream',
    accept(query, caller) {
      const parsed = parseStreamOptions(query);
      if (typeof parsed === 'string') return failure(400, parsed);
      if (parsed.messageType === 'signed_ecdsa' && !signsPayloads()) return failure(400, NO_KEY);
      return (socket) => new StreamSocket(stream, socket, parsed, caller, budgets.of(caller));
    },
  };
}

const NO_KEY = 'message_type signed_ecdsa is not served here: this node has no key of streaming payloads';

/** The session and its events in one object, for there may be tens of thousands. */
class StreamSocket extends StreamSession implements ConnectionEvents {
  constructor(
    readonly stream: StreamEngine,
    socket: Connection,
    options: StreamQuery,
    caller: Caller,
    budgets: CallerBudgets,
  ) {
    super(socket, options, caller, budgets);
  }

  text(text: string): void {
    this.stream.receive(this, text);
  }

  oversize(messageBytes: number): void {
    this.stream.refuseOversize(this, messageBytes);
  }

  lagged(sequence: number): void {
    this.stream.lagged(this, sequence);
  }

  drained(bufferedBytes: number): void {
    this.stream.drained(this, bufferedBytes);
  }

  /** What it alone was sent did not fit behind what waits for it: all of its prices are due when it has drained. */
  dropped(): void {
    this.stream.lagged(this, NOTHING_SENT);
  }

  silent(): void {}

  heard(): void {}

  closed(): void {
    this.stream.closed(this);
  }
}
