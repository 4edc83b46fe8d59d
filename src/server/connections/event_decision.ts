import type { Access } from '../access/open_access.js';
import type { RestRequest, RestResponse } from '../http/rest_exchange.js';
import type { Endpoint, OpenEndpoint } from './connection.js';
import type { ConnectionRegistry } from './registry.js';

/** The answer to a request for events: the head of the stream and the function that opens it, or a whole response. */
export interface EventsDecision {
  readonly response: RestResponse;
  readonly open: OpenEndpoint | undefined;
}

type AnswerRequest = (request: RestRequest) => RestResponse;

/**
 * Returns a function that decides on requests for events. Streams of events have the same limits as WebSockets.
 * @param withCrossOrigin adds the headers for web pages of allowed origins
 */
export function eventDecision(
  endpoint: Endpoint,
  sockets: ConnectionRegistry,
  { refused }: Access,
  withCrossOrigin: (answer: AnswerRequest) => AnswerRequest,
): (request: RestRequest) => EventsDecision {
  return (request) => {
    const decision = sockets.decide(endpoint, request);
    const open = typeof decision === 'function' ? decision : undefined;
    const response = withCrossOrigin(() =>
      typeof decision === 'function' ? EVENTS_HEAD : refused.checked(request, decision),
    )(request);
    return { response, open };
  };
}

/**
 * The head of a stream of events. The last header tells nginx to pass events on immediately; by default nginx buffers a response.
 */
const EVENTS_HEAD: RestResponse = {
  status: 200,
  contentType: 'text/event-stream',
  headers: [['X-Accel-Buffering', 'no']],
  body: '',
};
