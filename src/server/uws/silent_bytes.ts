import type { Silence } from './idle_timeouts.js';
import type { TcpCounters } from './tcp_counters.js';

/** A connection as {@link SilentBytes} uses it. */
export interface Pinged {
  /** Sends a ping now, if the socket is open and nothing waits for it. */
  ping(): void;
}

/**
 * The bytes of an upgrade request and of a TLS handshake, at most. A connection that has sent no more holds at most so much of an
 * unfinished message.
 */
const OPENING_BYTES_MAX = 24 * 1024;
/** The number of handles in a row that are no connections, after which the search ends. */
const MISSING_MAX = 512;
/** The largest number of searches in a second. A search looks twice at each connection of the process, in 2 µs each time. */
const SEARCHES_MAX = 16;

/**
 * Tells silent connections that have sent nothing from those in the middle of a message, which uWebSockets.js does not report. The
 * system counts the bytes of each connection by its handle, and a ping shows the handle: its count of written bytes grows.
 */
export class SilentBytes<S extends Pinged> implements Silence<S> {
  readonly #openCounters: () => TcpCounters | undefined;
  /** `null` before the first use. */
  #counters: TcpCounters | undefined | null = null;
  #searchesLeft = SEARCHES_MAX;
  /** The handles of silent connections. */
  readonly #handleOf = new Map<S, number>();

  constructor(openCounters: () => TcpCounters | undefined) {
    this.#openCounters = openCounters;
  }

  /** Allows further searches. Called once a second. */
  tick(): void {
    this.#searchesLeft = SEARCHES_MAX;
  }

  /**
   * Tells whether a connection has sent nothing but its opening. Also returns true until the connection is searched, if there are
   * too many to search in this second.
   * @returns `undefined` when that is unknown: the counts cannot be read, or the socket takes no ping
   */
  hasOnlyOpened(socket: S): boolean | undefined {
    if (this.#counters === null) this.#counters = this.#openCounters();
    const counters = this.#counters;
    if (counters === undefined) return undefined;
    let handle = this.#handleOf.get(socket);
    if (handle === undefined) {
      if (this.#searchesLeft === 0) return true;
      handle = this.#find(socket, counters);
    }
    if (handle === undefined) return undefined;
    this.#handleOf.set(socket, handle);
    const received = counters.of(handle)?.received;
    return received === undefined ? undefined : received - counters.unread(handle) <= OPENING_BYTES_MAX;
  }

  closed(socket: S): void {
    this.#handleOf.delete(socket);
  }

  #find(socket: S, counters: TcpCounters): number | undefined {
    this.#searchesLeft -= 1;
    const written: (number | undefined)[] = [];
    for (let missing = 0; missing < MISSING_MAX; ) {
      const counts = counters.of(written.length);
      written.push(counts?.written);
      missing = counts === undefined ? missing + 1 : 0;
    }
    socket.ping();
    const handle = written.findIndex(
      (before, at) =>
        before !== undefined && counters.of(at)?.written !== before && isOn(socket, at, counters),
    );
    return handle < 0 ? undefined : handle;
  }
}

/** Tells whether a ping of the socket is written to the handle. Another thread may write to its own handles at any time. */
export function isOn(socket: Pinged, handle: number, counters: TcpCounters): boolean {
  const written = () => counters.of(handle)?.written;
  const before = written();
  if (written() !== before) return false;
  socket.ping();
  const after = written();
  return after !== before && written() === after;
}
