import type { TcpCounters } from './tcp_counters.js';

/** A connection whose handle can be found. */
export interface Pinged {
  /**
   * Sends a ping now, if the socket is open and nothing waits for it.
   * @param bytes the length of the ping's payload, at most {@link PING_BYTES_MAX}
   */
  ping(bytes?: number): void;
}

/** The longest payload of a ping (RFC 6455, section 5.5). */
export const PING_BYTES_MAX = 125;
/** The bytes that are written in addition to the payload of a ping: the header, and with TLS 1.3 or 1.2 also a record. */
const OVERHEADS = [2, 24, 31];
/** The number of handles in a row that are no connections, after which a look at all handles ends. */
const MISSING_MAX = 512;
/** The pause after a search, in times of its duration. Searches take at most 5 % of the thread. */
const PAUSE_RATIO = 20;

/**
 * Finds the handles of sockets, which uWebSockets.js does not tell. After pings of different lengths, the system's count of written
 * bytes has grown by another number on each handle. So two looks at all handles, of 2 µs each, find many sockets.
 */
export class SocketHandles<S extends Pinged> {
  readonly #openCounters: () => TcpCounters | undefined;
  /** `null` before the first use. */
  #counters: TcpCounters | undefined | null = null;
  readonly #handleOf = new Map<S, number>();
  readonly #nowMs: () => number;
  #searchFromMs = Number.NEGATIVE_INFINITY;
  /** The number of searches, by which each begins with other sockets. */
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

  /** @returns `undefined` before the handle was found */
  of(socket: S): number | undefined {
    return this.#handleOf.get(socket);
  }

  /** Returns the bytes that the process has read from a socket; `undefined` when they are unknown. */
  readBytes(socket: S): number | undefined {
    const handle = this.of(socket);
    if (handle === undefined || this.counters === undefined) return undefined;
    // The unread bytes are read first, because more may arrive between the two calls.
    const unread = this.counters.unread(handle);
    const received = this.counters.of(handle)?.received;
    return received === undefined ? undefined : Math.max(0, received - unread);
  }

  /**
   * Finds the handles of some of the sockets that are unknown. Does nothing in the pause after a search. A socket that takes no ping,
   * or to which other bytes were written at the same time, stays unknown.
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
    // All handles are looked at before the answers are checked with more pings.
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

/** Tells whether a ping of the socket is written to the handle. Another thread may write to its own handles at any time. */
export function isOn(socket: Pinged, handle: number, counters: TcpCounters): boolean {
  const written = () => counters.of(handle)?.written;
  const before = written();
  if (written() !== before) return false;
  socket.ping();
  const after = written();
  return after !== before && written() === after;
}
