import type { StreamEngine } from '../../stream/engine.js';
import { parseStreamOptions, type StreamOptions } from '../../stream/options.js';
import { StreamSession } from '../../stream/session.js';
import { STREAM_PATH } from '../../wire/paths.js';
import type { Caller } from '../access/logins.js';
import {
  type Connection,
  type ConnectionEvents,
  type Endpoint,
  type ReaderLimits,
  readerPath,
} from './connection.js';

export interface StreamEndpointOptions extends ReaderLimits {
  readonly stream: StreamEngine;
}

/** `/ws`. */
export function streamEndpoint(options: StreamEndpointOptions): Endpoint {
  const { stream } = options;
  return {
    path: readerPath(STREAM_PATH, options),
    scope: 'stream',
    accept(query, caller) {
      const parsed = parseStreamOptions(query);
      if (typeof parsed === 'string') return parsed;
      return (socket) => new StreamSocket(stream, socket, parsed, caller);
    },
  };
}

/** The session and its events in one object, for there may be tens of thousands. */
class StreamSocket extends StreamSession implements ConnectionEvents {
  constructor(
    readonly stream: StreamEngine,
    socket: Connection,
    options: StreamOptions,
    caller: Caller,
  ) {
    super(socket, options, caller);
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

  /** Only replies to a client that sends much and reads nothing come here. */
  dropped(): void {}

  silent(): void {}

  heard(): void {}

  closed(): void {
    this.stream.closed(this);
  }
}
