import type { StreamEngine } from '../../stream/engine.js';
import { StreamSession } from '../../stream/group.js';
import { parseStreamOptions } from '../../stream/stream_options.js';
import { STREAM_PATH } from '../../wire/paths.js';
import type { BudgetDirectory } from '../access/caller_budgets.js';
import { failure } from '../http/rest_exchange.js';
import { type Endpoint, type ReaderLimits, readerPath } from './connection.js';

export interface StreamEndpointOptions extends ReaderLimits {
  readonly budgets: BudgetDirectory;
  readonly stream: StreamEngine;
  /** Returns true if there is a key for `signed_ecdsa`. */
  readonly signsPayloads: () => boolean;
}

/** Makes the endpoint `/ws`. */
export function streamEndpoint(options: StreamEndpointOptions): Endpoint {
  const { stream, signsPayloads, budgets } = options;
  return {
    path: readerPath(STREAM_PATH, options),
    scope: 'stream',
    accept(query, caller) {
      const parsed = parseStreamOptions(query);
      if (typeof parsed === 'string') return failure(400, parsed);
      if (parsed.messageType === 'signed_ecdsa' && !signsPayloads()) return failure(400, NO_KEY);
      return (socket) => new StreamSession(stream, socket, parsed, caller, budgets.of(caller));
    },
  };
}

const NO_KEY = 'message_type signed_ecdsa is not served here: this node has no key of streaming payloads';
