import { createHmac, randomBytes } from 'node:crypto';
import { NS_PER_SECOND } from '../../model/time.js';
import { type CallerTimesMemory, createCallerTimes } from './caller_times.js';
import type { RateLimiter } from './rate_limit.js';
import { forgetCounts, ThreadCounts, threadCounts } from './thread_counts.js';

/** The memory in which threads count the connections of client addresses. */
export interface AddressesMemory {
  /** The number of open WebSockets and streams of events by place. An address has the place of its hash. */
  readonly sockets: SharedArrayBuffer;
  /** The times of new connections by address. */
  readonly recent: CallerTimesMemory;
  /** The number of all open connections, in one place. */
  readonly connections: SharedArrayBuffer;
  /** The secret of the hashes. Without the secret, nobody can choose an address that has the place of another address. */
  readonly secret: Uint8Array;
  /** The number of connections for which the process has file handles. */
  readonly handles: number;
}

const PLACES = 65_536;
/** The place of an address without a limit. */
const UNLIMITED = -1;
/** The time for which a connection without a request stays open at most: uWebSockets.js ends it after 8 to 12 s. */
const SILENT_NS = 12n * NS_PER_SECOND;
/**
 * The number of connections that an address may open within {@link SILENT_NS} for each WebSocket that it may have. A client without keep-alive opens
 * one for each request, and most of them end with the answer.
 */
const SHORT_PER_SOCKET = 10;
/** The share of an address in the free file handles. */
const ADDRESS_SHARE = 1 / 2;
/** The share of the file handles below which connections end with their answers. */
const SHORT_SHARE = 1 / 4;

export function createAddresses(threads: number, handles: number): AddressesMemory {
  return {
    sockets: threadCounts(PLACES, threads),
    recent: createCallerTimes(),
    connections: threadCounts(1, threads),
    secret: randomBytes(32),
    handles,
  };
}

/** Subtracts the connections of an ended thread. */
export function forgetAddresses({ sockets, connections }: AddressesMemory, thread: number): void {
  const threads = connections.byteLength / Int32Array.BYTES_PER_ELEMENT;
  forgetCounts(sockets, thread, threads);
  forgetCounts(connections, thread, threads);
}

export interface AddressConnectionsOptions {
  readonly memory: AddressesMemory;
  /** The number of the calling thread. */
  readonly thread: number;
  /** Counts new connections, in {@link AddressesMemory.recent}. */
  readonly limiter: RateLimiter;
  /** `limits.connections_per_address` */
  readonly perAddressMax: number;
  /** Returns the address to which a connection counts; `undefined` for a trusted proxy, which opens connections for many clients. */
  readonly peerOf: (address: string) => string | undefined;
  /** Called with the address of a refused connection. */
  readonly onRefused: (address: string) => void;
}

/**
 * Limits the connections of a client address, so that one address leaves connections to others. uWebSockets.js reports the beginning of each
 * connection, but not the address of one that ends. So an address may have a number of WebSockets and streams of events, and may open
 * {@link SHORT_PER_SOCKET} times as many connections within {@link SILENT_NS}, but at most half as many as file handles are free.
 */
export class AddressConnections {
  readonly #options: AddressConnectionsOptions;
  readonly #sockets: ThreadCounts;
  readonly #connections: ThreadCounts;

  constructor(options: AddressConnectionsOptions) {
    this.#options = options;
    const { sockets, connections } = options.memory;
    const threads = connections.byteLength / Int32Array.BYTES_PER_ELEMENT;
    this.#sockets = new ThreadCounts(sockets, options.thread, threads);
    this.#connections = new ThreadCounts(connections, options.thread, threads);
  }

  /** True while so few file handles are free that connections must end with their answers. */
  get isShort(): boolean {
    const { handles } = this.#options.memory;
    return this.#free < handles * SHORT_SHARE;
  }

  /** Counts a new connection. {@link ended} must be called for a refused connection too. @returns false if the connection must end */
  accept(address: string): boolean {
    this.#connections.add(0, Number.POSITIVE_INFINITY);
    const { peerOf, limiter, perAddressMax, onRefused } = this.#options;
    const peer = peerOf(address);
    if (peer === undefined) return true;
    const ofFree = Math.max(1, Math.floor(this.#free * ADDRESS_SHARE));
    const max = Math.min(perAddressMax * SHORT_PER_SOCKET, ofFree);
    if (limiter.take(peer, max, SILENT_NS).allowed) return true;
    onRefused(peer);
    return false;
  }

  ended(): void {
    this.#connections.subtract(0);
  }

  /** Counts a WebSocket or a stream of events. @returns the place of its address, or `undefined` if the address is at its limit */
  openSocket(address: string): number | undefined {
    const { peerOf, perAddressMax, onRefused } = this.#options;
    const peer = peerOf(address);
    if (peer === undefined) return UNLIMITED;
    const place = this.#placeOf(peer);
    if (this.#sockets.add(place, perAddressMax)) return place;
    onRefused(peer);
    return undefined;
  }

  closeSocket(place: number): void {
    if (place !== UNLIMITED) this.#sockets.subtract(place);
  }

  get #free(): number {
    return this.#options.memory.handles - this.#connections.sum(0);
  }

  #placeOf(peer: string): number {
    return createHmac('sha256', this.#options.memory.secret).update(peer).digest().readUInt32LE() % PLACES;
  }
}
