import type { StreamEngine } from '../stream/engine.js';
import { parseStreamOptions } from '../stream/options.js';
import type { StreamSession } from '../stream/session.js';
import type { Endpoint, SocketEvents } from './socket.js';

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
      return (socket) => new StreamEvents(stream, stream.open(socket, parsed, token));
    },
  };
}

class StreamEvents implements SocketEvents {
  constructor(
    readonly stream: StreamEngine,
    readonly session: StreamSession,
  ) {}

  text(text: string): void {
    this.stream.receive(this.session, text);
  }

  oversize(messageBytes: number): void {
    this.stream.refuseOversize(this.session, messageBytes);
  }

  lagged(sequence: number): void {
    this.stream.lagged(this.session, sequence);
  }

  drained(bufferedBytes: number): void {
    this.stream.drained(this.session, bufferedBytes);
  }

  /** Only replies to a client that sends much and reads nothing come here. */
  dropped(): void {}

  closed(): void {
    this.stream.closed(this.session);
  }
}
