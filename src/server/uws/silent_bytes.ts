import type { Silence } from './idle_timeouts.js';
import type { Pinged, SocketHandles } from './socket_handles.js';

/**
 * The bytes of an upgrade request and of a TLS handshake, at most. A connection that has sent no more holds at most so much of an
 * unfinished message.
 */
export const OPENING_BYTES_MAX = 24 * 1024;

/**
 * Tells silent connections that have sent nothing from those in the middle of a message, which uWebSockets.js does not report: the
 * system counts the bytes of each connection.
 */
export class SilentBytes<S extends Pinged> implements Silence<S> {
  readonly #handles: SocketHandles<S>;

  constructor(handles: SocketHandles<S>) {
    this.#handles = handles;
  }

  findAll(sockets: readonly S[]): void {
    this.#handles.find(sockets);
  }

  /**
   * Tells whether a connection has sent nothing but its opening.
   * @returns `undefined` when that is unknown: the counts cannot be read, or the socket takes no ping
   */
  hasOnlyOpened(socket: S): boolean | undefined {
    const bytes = this.#handles.readBytes(socket);
    return bytes === undefined ? undefined : bytes <= OPENING_BYTES_MAX;
  }
}
