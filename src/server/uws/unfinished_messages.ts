import type { ConnectionPath } from '../connections/connection.js';
import { OPENING_BYTES_MAX } from './silent_bytes.js';
import type { Pinged, SocketHandles } from './socket_handles.js';

/** A connection whose unfinished message is counted. */
export interface Unfinished extends Pinged {
  readonly path: Pick<ConnectionPath, 'parserBytesMax'>;
  /** The caller of the connection. */
  readonly owner: object | undefined;
  /** Called when unfinished messages need too much memory, and the message of this connection is one of the largest. */
  tooLarge(): void;
}

/** The bytes of a connection. */
interface MessageBytes {
  /** The bytes of the whole messages, pings and pongs since the last check. */
  whole: number;
  /** The bytes that the process had read at the last check. */
  read: number;
  unfinished: number;
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
  readonly #sockets = new Map<S, MessageBytes>();
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
    this.#sockets.set(socket, { whole: 0, read: OPENING_BYTES_MAX, unfinished: 0 });
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
    const counts = this.#sockets.get(socket);
    if (counts !== undefined) counts.whole += bytes + FRAME_BYTES;
  }

  check(): void {
    this.#handles.find([...this.#sockets.keys()]);
    let total = 0;
    for (const [socket, counts] of this.#sockets) {
      this.#count(socket, counts);
      total += counts.unfinished;
    }
    if (total > this.#bytesMax) this.#closeLargest(total);
  }

  #count(socket: S, counts: MessageBytes): void {
    const read = this.#handles.readBytes(socket);
    if (read === undefined) return;
    counts.unfinished = Math.max(0, counts.unfinished + read - counts.read - counts.whole);
    counts.read = read;
    counts.whole = 0;
  }

  #closeLargest(total: number): void {
    const byCaller = new Map<object | undefined, { bytes: number; sockets: [S, MessageBytes][] }>();
    for (const entry of [...this.#sockets].sort(([, one], [, other]) => one.unfinished - other.unfinished)) {
      const [{ owner }, { unfinished }] = entry;
      const caller = byCaller.get(owner) ?? { bytes: 0, sockets: [] };
      caller.bytes += unfinished;
      caller.sockets.push(entry);
      byCaller.set(owner, caller);
    }
    const callers = [...byCaller.values()];
    for (let left = total; left > this.#bytesMax / 2; ) {
      const largest = callers.reduce((most, one) => (one.bytes > most.bytes ? one : most));
      const [socket, { unfinished }] = largest.sockets.pop()!;
      left -= unfinished;
      largest.bytes -= unfinished;
      this.#handles.closed(socket);
      socket.tooLarge();
    }
  }
}
