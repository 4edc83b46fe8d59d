import { createHash } from 'node:crypto';
import { budgetWords } from '../../model/budget.js';
import { type AddressesMemory, createAddresses, forgetAddresses } from './address_connections.js';
import { type CallerTimesMemory, createCallerTimes } from './caller_times.js';
import { forgetCounts, ThreadCounts, threadCounts } from './thread_counts.js';
import { createTicketMemory } from './ticket_issuer.js';

/** The counts that the edges of a process share, and the tickets that the edges issue, in shared memory. */
export interface SharedAccess {
  /** Times of requests by token, by key, and by client address on open routes. */
  readonly requests: CallerTimesMemory;
  /** Times of failed logins by client address. */
  readonly failures: CallerTimesMemory;
  /** Times of refused requests by client address. */
  readonly refusals: CallerTimesMemory;
  /** Times of connections by login with a signature. */
  readonly loginConnections: CallerTimesMemory;
  /** Times at which tokens and keys were last used from a client address. */
  readonly familiar: CallerTimesMemory;
  /** The time until which some client address may be above its limit of failed logins, in a 64-bit word. */
  readonly limitedUntilNs: SharedArrayBuffer;
  readonly addresses: AddressesMemory;
  readonly callers: CallersMemory;
  readonly tickets: SharedArrayBuffer;
}

export interface CallersMemory {
  /** The hash of each caller's identity; 0 for a free place. */
  readonly hashes: SharedArrayBuffer;
  /** The number of open connections of each caller on each thread. */
  readonly connections: SharedArrayBuffer;
  /** The number of open connections of publishers, for each caller and thread. */
  readonly publishers: SharedArrayBuffer;
  /** For each caller, the second of the newest login by signature that needs a place; 0 for none. */
  readonly requestedPlaces: SharedArrayBuffer;
  /** The number of open streaming connections of each thread. */
  readonly streams: SharedArrayBuffer;
  /** The budgets: {@link BUDGETS_PER_CALLER} words for each caller. */
  readonly budgets: SharedArrayBuffer;
}

/**
 * The number of different callers since the start of the process. Callers are tokens, and keys that log in with a signature.
 * Unused memory costs nothing, because the system allocates a page at its first use.
 */
const CALLERS_MAX = 32_768;
/** The number of budgets that a caller can have. */
export const BUDGETS_PER_CALLER = 8;

/**
 * @param threads the number of edges that share the memory
 * @param handles the number of connections for which the process has file handles
 */
export function createSharedAccess(threads: number, handles = Number.POSITIVE_INFINITY): SharedAccess {
  return {
    addresses: createAddresses(threads, handles),
    requests: createCallerTimes(),
    failures: createCallerTimes(),
    refusals: createCallerTimes(),
    loginConnections: createCallerTimes(),
    familiar: createCallerTimes(),
    limitedUntilNs: new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT),
    tickets: createTicketMemory(),
    callers: {
      hashes: new SharedArrayBuffer(CALLERS_MAX * BigInt64Array.BYTES_PER_ELEMENT),
      connections: threadCounts(CALLERS_MAX, threads),
      publishers: threadCounts(CALLERS_MAX, threads),
      requestedPlaces: new SharedArrayBuffer(CALLERS_MAX * BigInt64Array.BYTES_PER_ELEMENT),
      streams: threadCounts(1, threads),
      budgets: budgetWords(CALLERS_MAX * BUDGETS_PER_CALLER).buffer as SharedArrayBuffer,
    },
  };
}

/** Subtracts the connections that an ended thread still counted as open. */
export function forgetThread({ callers, addresses }: SharedAccess, thread: number): void {
  const { streams, connections, publishers } = callers;
  const threads = threadsOf(callers);
  for (const counts of [streams, connections, publishers]) forgetCounts(counts, thread, threads);
  forgetAddresses(addresses, thread);
}

/** Returns the number of threads that share the memory. */
function threadsOf({ streams }: CallersMemory): number {
  return streams.byteLength / Int32Array.BYTES_PER_ELEMENT;
}

/** The open connections and the budgets of each caller, for all threads together. */
export class CallerCounts {
  readonly #hashes: BigInt64Array;
  readonly #connections: ThreadCounts;
  readonly #publishers: ThreadCounts;
  readonly #requestedPlaces: BigInt64Array;
  readonly #streams: ThreadCounts;
  /** The budgets of all callers. The budgets of a caller begin at {@link placeOfBudgets}. */
  readonly budgets: BigInt64Array;
  /** The places of callers that this thread knows. A caller's place never changes. */
  readonly #places = new Map<string, number>();

  /** @param thread the thread whose connections are counted */
  constructor(memory: CallersMemory, thread: number) {
    const { hashes, connections, publishers, requestedPlaces, streams, budgets } = memory;
    const threads = threadsOf(memory);
    this.#hashes = new BigInt64Array(hashes);
    this.#connections = new ThreadCounts(connections, thread, threads);
    this.#publishers = new ThreadCounts(publishers, thread, threads);
    this.#requestedPlaces = new BigInt64Array(requestedPlaces);
    this.#streams = new ThreadCounts(streams, thread, threads);
    this.budgets = new BigInt64Array(budgets);
  }

  /**
   * Returns the place of a caller. The place is the same for all threads. If no place is free, the caller shares the place and
   * the limits of another caller.
   */
  placeOf(identity: string): number {
    let place = this.#places.get(identity);
    if (place === undefined) {
      place = this.#claimPlace(identity);
      this.#places.set(identity, place);
    }
    return place;
  }

  #claimPlace(identity: string): number {
    const hash = createHash('sha256').update(identity).digest().readBigInt64LE() || 1n;
    let place = Number(BigInt.asUintN(32, hash)) % CALLERS_MAX;
    for (let tried = 0; tried < CALLERS_MAX; tried++) {
      const before = Atomics.compareExchange(this.#hashes, place, 0n, hash);
      if (before === 0n || before === hash) return place;
      place = (place + 1) % CALLERS_MAX;
    }
    return place;
  }

  placeOfBudgets(place: number): number {
    return place * BUDGETS_PER_CALLER;
  }

  /**
   * Counts a connection of the caller, unless the caller already has `connectionsMax`.
   * @returns true if the connection was counted
   */
  open(place: number, connectionsMax: number): boolean {
    return this.#connections.add(place, connectionsMax);
  }

  close(place: number): void {
    this.#connections.subtract(place);
  }

  /**
   * Counts a connection of a publisher, unless the caller already has `publishersMax`.
   * @returns true if the connection was counted
   */
  openPublisher(place: number, publishersMax: number): boolean {
    return this.#publishers.add(place, publishersMax);
  }

  closePublisher(place: number): void {
    this.#publishers.subtract(place);
  }

  /** Asks the other threads to end a connection of the caller in favour of a login of this second. */
  requestPlace(place: number, second: bigint): void {
    Atomics.store(this.#requestedPlaces, place, second);
  }

  /** @param end ends a connection with an older login than `second`; returns false if this thread has none */
  givePlace(place: number, end: (second: bigint) => boolean): void {
    const second = Atomics.load(this.#requestedPlaces, place);
    if (second !== 0n && end(second)) Atomics.compareExchange(this.#requestedPlaces, place, second, 0n);
  }

  /**
   * Counts a streaming connection of any caller, unless `streamsMax` connections are already open.
   * @returns true if the connection was counted
   */
  openStream(streamsMax: number): boolean {
    return this.#streams.add(ALL_CALLERS, streamsMax);
  }

  closeStream(): void {
    this.#streams.subtract(ALL_CALLERS);
  }
}

/** The place of the counts for all callers together. */
const ALL_CALLERS = 0;
