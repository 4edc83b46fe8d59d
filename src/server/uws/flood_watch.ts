import type { ConnectionPath } from '../connections/connection.js';
import { isOn, type Pinged } from './socket_handles.js';
import type { TcpCounters } from './tcp_counters.js';

/** A WebSocket as the watch uses it. */
export interface WatchedSocket extends Pinged {
  readonly path: Pick<ConnectionPath, 'parserBytesMax'>;
  /** Called once, when the peer has sent many more bytes than the bytes of its messages. */
  flooded(): void;
}

export interface FloodWatchOptions<S> {
  /** Opens the counts of the system at their first use. */
  readonly openCounters: () => TcpCounters | undefined;
  /** The open sockets of this thread. */
  readonly sockets: Iterable<S>;
  /** Returns the share of the time in which the event loop was busy since the last call, 0 to 1. */
  readonly utilization: () => number;
}

/** The share of time from which a loop counts as busy. Below this share, a flood harms nobody, so the watch counts nothing. */
const BUSY_MIN = 0.5;
/** The interval of checks of an idle loop. The next constant is the interval for a loop that is or was busy. */
const IDLE_CHECK_MS = 1_000;
const BUSY_CHECK_MS = 250;
/**
 * The number of checks without a busy loop after which the watch stops counting. Until then the watch continues, because a flood may
 * return.
 */
const QUIET_CHECKS_MAX = 240;
/** The largest number of handles in one check of a busy loop. Reading the counts of a handle takes 2 µs. */
const HANDLES_PER_CHECK = 1_000;
/**
 * The largest number of handles in one check of a loop that is no longer busy. With 1,000 handles, such a loop with 5,000 readers at
 * 100 ms took 8 % more CPU time.
 */
const HANDLES_PER_QUIET_CHECK = 16;
/** The number of consecutive handles without a connection after which the check starts again at the first handle. */
const MISSING_MAX = 512;
/** The number of new bytes on a connection that makes the watch search for the connection's socket. */
const SUSPECT_BYTES = 64 * 1024;
/**
 * The number of checks after which the watch searches again for a socket that it did not find. The socket may belong to another
 * thread.
 */
const UNKNOWN_LOOKS = 40;
/** The number of sockets that the watch pings together in a search for the sockets of handles. */
const SEARCH_TOGETHER = 64;
/** The largest number of bytes for the headers of a frame and for TLS. */
const FRAME_BYTES = 64;
/** The number of bytes that a connection may receive in addition to the longest message: headers of fragments, for example. */
const EXCESS_BYTES = 64 * 1024;

/** The count of received bytes of a handle that the watch does not know. */
const UNKNOWN = -1;

/** The count of the bytes that a socket has received since the watch found its handle. */
interface Account {
  readonly handle: number;
  readonly readBefore: number;
  /** The bytes of messages, pings and pongs that uWebSockets.js reported. */
  reported: number;
}

/**
 * Finds connections that send frames without bytes. uWebSockets.js reports no continuation frames. So a message of millions of
 * empty frames costs the loop 10 ns for each byte, and never ends. While the loop is busy, the watch compares the bytes that the
 * process has read from a connection with the bytes of its whole messages. The difference is the unfinished message, which has at
 * most {@link ConnectionPath.parserBytesMax}. A larger difference consists of frames without bytes.
 *
 * uWebSockets.js does not report the handle of a socket either. The watch finds the handle with pings: after a ping, the system's
 * count of written bytes has grown on one handle.
 */
export class FloodWatch<S extends WatchedSocket> {
  readonly #options: FloodWatchOptions<S>;
  /** The received bytes at the last check, by handle, or {@link UNKNOWN}. A number, because most of thousands of handles have no owner. */
  readonly #received: number[] = [];
  /** The sockets of the handles that the watch has found. */
  readonly #owners = new Map<number, S>();
  /** The number of checks until the watch may repeat the search for the owner of a handle. */
  readonly #looksToSearch = new Map<number, number>();
  readonly #accounts = new Map<S, Account>();
  /** `null` before the first use. */
  #counters: TcpCounters | undefined | null = null;
  #quietChecks = QUIET_CHECKS_MAX;
  #nextHandle = 0;
  /** The number of consecutive handles without a connection before {@link #nextHandle}. */
  #missing = 0;
  /** True when the watch has checked all handles since it began. */
  #knowsAll = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FloodWatchOptions<S>) {
    this.#options = options;
  }

  /** True while the loop is busy, or was busy a short time ago. */
  get isWatching(): boolean {
    return this.#quietChecks < QUIET_CHECKS_MAX;
  }

  /** Starts to call {@link check}. The timer does not keep the thread alive. */
  start(): void {
    const intervalMs = this.isWatching ? BUSY_CHECK_MS : IDLE_CHECK_MS;
    this.#timer = setInterval(() => {
      const wasWatching = this.isWatching;
      this.check();
      if (this.isWatching === wasWatching) return;
      this.stop();
      this.start();
    }, intervalMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Adds the bytes of a whole message, ping or pong. */
  reported(socket: S, bytes: number): void {
    if (this.#accounts.size === 0) return;
    const account = this.#accounts.get(socket);
    if (account !== undefined) account.reported += bytes + FRAME_BYTES;
  }

  closed(socket: S): void {
    const account = this.#accounts.get(socket);
    if (account === undefined) return;
    this.#accounts.delete(socket);
    this.#forget(account.handle);
  }

  check(): void {
    const isBusy = this.#options.utilization() >= BUSY_MIN;
    if (!isBusy && !this.isWatching) return;
    this.#quietChecks = isBusy ? 0 : this.#quietChecks + 1;
    if (this.#counters === null) this.#counters = this.#options.openCounters();
    if (!this.isWatching || this.#counters === undefined) this.#forgetAll();
    else this.#look(this.#counters, isBusy ? HANDLES_PER_CHECK : HANDLES_PER_QUIET_CHECK);
  }

  #forgetAll(): void {
    this.#quietChecks = QUIET_CHECKS_MAX;
    this.#received.length = 0;
    this.#owners.clear();
    this.#looksToSearch.clear();
    this.#accounts.clear();
    this.#nextHandle = 0;
    this.#missing = 0;
    this.#knowsAll = false;
  }

  #forget(handle: number): void {
    this.#received[handle] = UNKNOWN;
    this.#owners.delete(handle);
    this.#looksToSearch.delete(handle);
  }

  #look(counters: TcpCounters, handlesMax: number): void {
    const suspects: number[] = [];
    for (let looks = 0; looks < handlesMax; looks++) {
      const handle = this.#nextHandle++;
      const counts = counters.of(handle);
      if (counts !== undefined) {
        this.#missing = 0;
        if (this.#lookAt(handle, counts.received, counters)) suspects.push(handle);
        continue;
      }
      this.#forget(handle);
      if (++this.#missing < MISSING_MAX) continue;
      this.#nextHandle = 0;
      this.#missing = 0;
      this.#knowsAll = true;
      break;
    }
    if (suspects.length > 0) this.#search(suspects, counters);
  }

  /** @returns true when the watch must find the socket of the handle */
  #lookAt(handle: number, received: number, counters: TcpCounters): boolean {
    let before = this.#received[handle] ?? UNKNOWN;
    if (before === UNKNOWN || received < before) {
      this.#forget(handle);
      before = this.#knowsAll ? 0 : received;
    }
    this.#received[handle] = received;
    const owner = this.#owners.get(handle);
    const looksToSearch = this.#looksToSearch.get(handle) ?? 0;
    if (owner !== undefined) this.#judge(owner, counters);
    else if (looksToSearch > 0) this.#looksToSearch.set(handle, looksToSearch - 1);
    else return received - before > SUSPECT_BYTES;
    return false;
  }

  #judge(socket: S, counters: TcpCounters): void {
    const { handle, readBefore, reported } = this.#accounts.get(socket)!;
    const unreported = readFrom(handle, counters) - readBefore - reported;
    if (unreported <= socket.path.parserBytesMax + EXCESS_BYTES) return;
    this.closed(socket);
    socket.flooded();
  }

  /** Finds the sockets of handles, the newest sockets first. */
  #search(handles: readonly number[], counters: TcpCounters): void {
    const sockets = [...this.#options.sockets].reverse();
    let wanted = [...handles];
    for (let at = 0; at < sockets.length && wanted.length > 0; at += SEARCH_TOGETHER) {
      const together = sockets
        .slice(at, at + SEARCH_TOGETHER)
        .filter((socket) => !this.#accounts.has(socket));
      const before = wanted.map((handle) => counters.of(handle)?.written);
      for (const socket of together) socket.ping();
      const among = wanted.filter((handle, i) => counters.of(handle)?.written !== before[i]);
      for (const handle of among) {
        const socket = together.find((one) => isOn(one, handle, counters));
        if (socket === undefined) continue;
        this.#owners.set(handle, socket);
        this.#accounts.set(socket, { handle, readBefore: readFrom(handle, counters), reported: 0 });
        wanted = wanted.filter((one) => one !== handle);
      }
    }
    for (const handle of wanted) this.#looksToSearch.set(handle, UNKNOWN_LOOKS);
  }
}

function readFrom(handle: number, counters: TcpCounters): number {
  // The unread bytes are counted first, because more bytes may arrive between the two calls.
  const unread = counters.unread(handle);
  return (counters.of(handle)?.received ?? 0) - unread;
}
