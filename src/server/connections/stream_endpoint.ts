import type { StreamEngine } from '../../stream/engine.js';
import { StreamSession } from '../../stream/group.js';
import { parseStreamOptions, type StreamQuery } from '../../stream/stream_options.js';
import { STREAM_PATH } from '../../wire/paths.js';
import type { BudgetDirectory } from '../access/caller_budgets.js';
import { failure, type RestResponse } from '../http/rest_exchange.js';
import { type Endpoint, type ReaderLimits, readerPath } from './connection.js';

export interface StreamEndpointOptions extends ReaderLimits {
  readonly budgets: BudgetDirectory;
  readonly stream: StreamEngine;
  /** Returns true if the service has a key for `signed_ecdsa`. */
  readonly signsPayloads: () => boolean;
}

/** Makes the endpoint `/ws`. */
export function streamEndpoint(options: StreamEndpointOptions): Endpoint {
  const { stream, budgets } = options;
  return {
    path: readerPath(STREAM_PATH, options),
    scope: 'stream',
    accept(query, caller) {
      const parsed = parseStreamOptions(query);
      if (typeof parsed === 'string') return failure(400, parsed);
      const fault = signsNothing(parsed, options);
      if (fault !== undefined) return fault;
      return (socket) => new StreamSession(stream, socket, parsed, caller, budgets.of(caller));
    },
  };
}

/** Returns the response that refuses a request for signed frames, if the service has no key to sign them. */
export function signsNothing(
  { messageType }: StreamQuery,
  { signsPayloads }: StreamEndpointOptions,
): RestResponse | undefined {
  return messageType === 'signed_ecdsa' && !signsPayloads() ? failure(400, NO_KEY) : undefined;
}

const NO_KEY = 'message_type signed_ecdsa is not served here: this node has no key of streaming payloads';
