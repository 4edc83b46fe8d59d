import type { Silence } from './idle_timeouts.js';
import type { Pinged, SocketHandles } from './socket_handles.js';

/**
 * The largest number of bytes of an upgrade request and of a TLS handshake. A connection that has sent fewer bytes holds at most
 * this number of bytes of an unfinished message.
 */
export const OPENING_BYTES_MAX = 24 * 1024;

/**
 * Distinguishes silent connections that have sent nothing from connections in the middle of a message. uWebSockets.js does not
 * report the difference, so this class reads the system's count of bytes of each connection.
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
   * Returns whether a connection has sent only its opening.
   * @returns `undefined` when the answer is unknown: the counts cannot be read, or the socket takes no ping
   */
  hasOnlyOpened(socket: S): boolean | undefined {
    const bytes = this.#handles.readBytes(socket);
    return bytes === undefined ? undefined : bytes <= OPENING_BYTES_MAX;
  }
}
