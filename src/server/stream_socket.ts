import type { StreamEngine } from '../stream/engine.js';
import { parseStreamOptions } from '../stream/options.js';
import type { Endpoint } from './socket.js';

export interface StreamEndpointOptions {
  readonly stream: StreamEngine;
  readonly messageBytesMax: number;
  readonly idleTimeoutSeconds: number;
}

/**
 * uWebSockets.js ends a connection without a close frame when a message is longer than its own limit, so that is well
 * above ours, which is answered.
 */
const PARSER_HEADROOM = 16;

/** Bytes that may wait for a socket before what follows is dropped. Slow readers leave their topic long before. */
const BACKPRESSURE_BYTES_MAX = 1024 * 1024;

/** `/ws`. */
export function streamEndpoint(options: StreamEndpointOptions): Endpoint {
  const { stream, messageBytesMax, idleTimeoutSeconds } = options;
  return {
    path: {
      path: '/ws',
      messageBytesMax,
      parserBytesMax: messageBytesMax * PARSER_HEADROOM,
      bufferedBytesMax: BACKPRESSURE_BYTES_MAX,
      idleTimeoutSeconds,
      sendsPings: true,
    },
    scope: 'stream',
    accept(query, token) {
      const parsed = parseStreamOptions(query);
      if (typeof parsed === 'string') return parsed;
      return (socket) => {
        const session = stream.open(socket, parsed, token);
        return {
          text: (text) => stream.receive(session, text),
          oversize: (messageBytes) => stream.refuseOversize(session, messageBytes),
          lagged: (sequence) => stream.lagged(session, sequence),
          drained: (bufferedBytes) => stream.drained(session, bufferedBytes),
          dropped() {
            // Only replies to a client that sends much and reads nothing come here.
          },
          closed: () => stream.closed(session),
        };
      };
    },
  };
}
