import type { StreamEngine } from '../../stream/engine.js';
import { StreamSession, type StreamTerms } from '../../stream/group.js';
import { parseStreamOptions, type StreamQuery } from '../../stream/stream_options.js';
import { STREAM_PATH } from '../../wire/paths.js';
import type { BudgetDirectory } from '../access/caller_budgets.js';
import type { Caller } from '../access/logins.js';
import { PerCaller } from '../access/per_caller.js';
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
  const termsOf = sharedTerms(options);
  return {
    path: readerPath(STREAM_PATH, options),
    scope: 'stream',
    accept(query, caller) {
      const parsed = parseStreamOptions(query);
      if (typeof parsed === 'string') return failure(400, parsed);
      const fault = signsNothing(parsed, options);
      if (fault !== undefined) return fault;
      return (socket) => new StreamSession(socket, termsOf(caller, parsed));
    },
  };
}

/** Returns a function that returns the same terms for all connections of a caller with the same options. */
export function sharedTerms({
  stream,
  budgets,
}: StreamEndpointOptions): (caller: Caller, options: StreamQuery) => StreamTerms {
  const known = new PerCaller(() => new Map<StreamQuery, StreamTerms>());
  return (caller, options) => {
    const ofCaller = known.of(caller);
    let terms = ofCaller.get(options);
    if (terms === undefined) {
      terms = { streams: stream, options, rights: caller, budgets: budgets.of(caller) };
      ofCaller.set(options, terms);
    }
    return terms;
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
