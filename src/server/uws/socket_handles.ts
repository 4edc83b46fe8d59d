import type { TcpCounters } from './tcp_counters.js';

/** A connection whose handle can be found. */
export interface Pinged {
  /**
   * Sends a ping now, if the socket is open and has no waiting bytes.
   * @param bytes the length of the ping's payload, at most {@link PING_BYTES_MAX}
   */
  ping(bytes?: number): void;
}

/** The longest payload of a ping (RFC 6455, section 5.5). */
export const PING_BYTES_MAX = 125;
/** The bytes that a ping needs in addition to its payload: the header, and with TLS 1.3 or 1.2 also a record. */
const OVERHEADS = [2, 24, 31];
/** The number of consecutive handles without a connection after which a search through all handles ends. */
const MISSING_MAX = 512;
/** The ratio of the pause after a search to the duration of the search. Searches take at most 5 % of the thread. */
const PAUSE_RATIO = 20;

/**
 * Finds the handles of sockets, which uWebSockets.js does not report. The class sends pings of different lengths. The system's count of
 * written bytes then grows by a different number on each handle. So two readings of all handles find many sockets. A reading takes 2 µs for
 * each handle.
 */
export class SocketHandles<S extends Pinged> {
  readonly #openCounters: () => TcpCounters | undefined;
  /** `null` before the first use. */
  #counters: TcpCounters | undefined | null = null;
  readonly #handleOf = new Map<S, number>();
  readonly #nowMs: () => number;
  #searchFromMs = Number.NEGATIVE_INFINITY;
  /** The number of searches. Each search begins with different sockets. */
  #searches = 0;

  constructor(openCounters: () => TcpCounters | undefined, nowMs: () => number) {
    this.#openCounters = openCounters;
    this.#nowMs = nowMs;
  }

  /** The counts of the system; `undefined` where they cannot be read. */
  get counters(): TcpCounters | undefined {
    if (this.#counters === null) this.#counters = this.#openCounters();
    return this.#counters;
  }

  /** @returns `undefined` before this class has found the handle */
  of(socket: S): number | undefined {
    return this.#handleOf.get(socket);
  }

  /** Returns the bytes that the process has read from a socket; `undefined` when they are unknown. */
  readBytes(socket: S): number | undefined {
    const handle = this.of(socket);
    if (handle === undefined || this.counters === undefined) return undefined;
    // The unread bytes are counted first, because more bytes may arrive between the two calls.
    const unread = this.counters.unread(handle);
    const received = this.counters.of(handle)?.received;
    return received === undefined ? undefined : Math.max(0, received - unread);
  }

  /**
   * Finds the handles of some unknown sockets. Does nothing in the pause after a search. A socket stays unknown if the socket
   * takes no ping, or if other bytes were written to the socket at the same time.
   */
  find(sockets: readonly S[]): void {
    const beginMs = this.#nowMs();
    const unknown = sockets.filter((socket) => !this.#handleOf.has(socket));
    if (unknown.length === 0 || beginMs < this.#searchFromMs || this.counters === undefined) return;
    const at = unknown.length <= PING_BYTES_MAX ? 0 : (this.#searches++ * PING_BYTES_MAX) % unknown.length;
    this.#findTogether(unknown.slice(at, at + PING_BYTES_MAX), this.counters);
    const endMs = this.#nowMs();
    this.#searchFromMs = endMs + PAUSE_RATIO * (endMs - beginMs);
  }

  closed(socket: S): void {
    this.#handleOf.delete(socket);
  }

  #findTogether(sockets: readonly S[], counters: TcpCounters): void {
    const before = writtenByHandle(counters);
    sockets.forEach((socket, i) => {
      socket.ping(1 + i);
    });
    // The search reads all handles before it checks the candidates with more pings.
    const grown = before.map((written, handle) => (counters.of(handle)?.written ?? 0) - (written ?? 0));
    grown.forEach((bytes, handle) => {
      if (bytes === 0) return;
      const owner = OVERHEADS.map((overhead) => sockets[bytes - overhead - 1]).find(
        (socket) => socket !== undefined && !this.#handleOf.has(socket) && isOn(socket, handle, counters),
      );
      if (owner !== undefined) this.#handleOf.set(owner, handle);
    });
  }
}

function writtenByHandle(counters: TcpCounters): (number | undefined)[] {
  const written: (number | undefined)[] = [];
  for (let missing = 0; missing < MISSING_MAX; ) {
    const counts = counters.of(written.length);
    written.push(counts?.written);
    missing = counts === undefined ? missing + 1 : 0;
  }
  return written;
}

/** Returns whether a ping of the socket is written to the handle. Another thread may write to its own handles at any time. */
export function isOn(socket: Pinged, handle: number, counters: TcpCounters): boolean {
  const written = () => counters.of(handle)?.written;
  const before = written();
  if (written() !== before) return false;
  socket.ping();
  const after = written();
  return after !== before && written() === after;
}
