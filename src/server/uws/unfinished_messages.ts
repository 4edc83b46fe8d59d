import type { ConnectionPath } from '../connections/connection.js';
import { OPENING_BYTES_MAX } from './silent_bytes.js';
import type { Pinged, SocketHandles } from './socket_handles.js';

/** A connection whose unfinished message is counted, and the fields in which {@link UnfinishedMessages} stores its state. */
export interface Unfinished extends Pinged {
  readonly path: Pick<ConnectionPath, 'parserBytesMax'>;
  /** The caller of the connection. */
  readonly owner: object | undefined;
  /** The bytes of the whole messages, pings and pongs since the last check. */
  wholeBytes: number;
  /** The bytes that the process had read at the last check; -1 before the first check. */
  readBytes: number;
  unfinishedBytes: number;
  /** Called when unfinished messages need too much memory, and the message of this connection is one of the largest. */
  tooLarge(): void;
}

/** The interval of checks while the unfinished messages could exceed the bound. */
const CHECK_MS = 50;
/** The largest number of bytes of a frame's headers and its TLS records. */
const FRAME_BYTES = 64;

/**
 * Bounds the memory of unfinished messages of publishers. uWebSockets.js keeps each unfinished message, does not report it, and cannot stop
 * reading from a socket. So this class compares the bytes that the process has read from a connection with the bytes of its whole messages.
 * Past the bound, the caller with the most unfinished bytes loses the connections with the largest messages, until half of the bound is
 * free. This reserve is necessary because more bytes arrive before the next check.
 *
 * Without the system's counts, only the limits of each connection apply.
 */
export class UnfinishedMessages<S extends Unfinished> {
  readonly #handles: SocketHandles<S>;
  readonly #bytesMax: number;
  readonly #sockets = new Set<S>();
  /** The upper bound of the bytes of all sockets' unfinished messages. */
  #possibleBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param bytesMax the bound of the memory of unfinished messages on this thread */
  constructor(handles: SocketHandles<S>, bytesMax: number) {
    this.#handles = handles;
    this.#bytesMax = bytesMax;
  }

  /** True while all unfinished messages together could exceed the bound. */
  get isChecking(): boolean {
    return this.#timer !== undefined;
  }

  add(socket: S): void {
    this.#sockets.add(socket);
    this.#possibleBytes += socket.path.parserBytesMax;
    if (this.#possibleBytes > this.#bytesMax)
      this.#timer ??= setInterval(() => this.check(), CHECK_MS).unref();
  }

  delete(socket: S): void {
    if (!this.#sockets.delete(socket)) return;
    this.#possibleBytes -= socket.path.parserBytesMax;
    if (this.#possibleBytes <= this.#bytesMax) this.stop();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Adds the bytes of a whole message, ping or pong. */
  received(socket: S, bytes: number): void {
    socket.wholeBytes += bytes + FRAME_BYTES;
  }

  check(): void {
    const sockets = [...this.#sockets];
    this.#handles.find(sockets);
    let total = 0;
    for (const socket of sockets) {
      this.#count(socket);
      total += socket.unfinishedBytes;
    }
    if (total > this.#bytesMax) this.#closeLargest(sockets, total);
  }

  #count(socket: S): void {
    const read = this.#handles.readBytes(socket);
    if (read === undefined) return;
    const arrived = read - (socket.readBytes < 0 ? OPENING_BYTES_MAX : socket.readBytes);
    socket.unfinishedBytes = Math.max(0, socket.unfinishedBytes + arrived - socket.wholeBytes);
    socket.readBytes = read;
    socket.wholeBytes = 0;
  }

  #closeLargest(sockets: readonly S[], total: number): void {
    const byCaller = new Map<object | undefined, { bytes: number; sockets: S[] }>();
    for (const socket of [...sockets].sort((one, other) => one.unfinishedBytes - other.unfinishedBytes)) {
      const caller = byCaller.get(socket.owner) ?? { bytes: 0, sockets: [] };
      caller.bytes += socket.unfinishedBytes;
      caller.sockets.push(socket);
      byCaller.set(socket.owner, caller);
    }
    const callers = [...byCaller.values()];
    for (let left = total; left > this.#bytesMax / 2; ) {
      const largest = callers.reduce((most, one) => (one.bytes > most.bytes ? one : most));
      const socket = largest.sockets.pop()!;
      left -= socket.unfinishedBytes;
      largest.bytes -= socket.unfinishedBytes;
      this.#handles.closed(socket);
      socket.tooLarge();
    }
  }
}
