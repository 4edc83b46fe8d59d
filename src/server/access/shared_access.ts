import { createHash } from 'node:crypto';
import { budgetWords } from '../../fair/budget.js';
import { type CallerTimesMemory, createCallerTimes } from './caller_times.js';
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

/** @param threads the number of edges that share the memory */
export function createSharedAccess(threads: number): SharedAccess {
  return {
    requests: createCallerTimes(),
    failures: createCallerTimes(),
    refusals: createCallerTimes(),
    loginConnections: createCallerTimes(),
    familiar: createCallerTimes(),
    limitedUntilNs: new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT),
    tickets: createTicketMemory(),
    callers: {
      hashes: new SharedArrayBuffer(CALLERS_MAX * BigInt64Array.BYTES_PER_ELEMENT),
      connections: new SharedArrayBuffer(CALLERS_MAX * threads * Int32Array.BYTES_PER_ELEMENT),
      publishers: new SharedArrayBuffer(CALLERS_MAX * threads * Int32Array.BYTES_PER_ELEMENT),
      requestedPlaces: new SharedArrayBuffer(CALLERS_MAX * BigInt64Array.BYTES_PER_ELEMENT),
      streams: new SharedArrayBuffer(threads * Int32Array.BYTES_PER_ELEMENT),
      budgets: budgetWords(CALLERS_MAX * BUDGETS_PER_CALLER).buffer as SharedArrayBuffer,
    },
  };
}

/** Subtracts the connections that an ended thread still counted as open. */
export function forgetThread({ callers }: SharedAccess, thread: number): void {
  const streams = new Int32Array(callers.streams);
  const connections = new Int32Array(callers.connections);
  const publishers = new Int32Array(callers.publishers);
  Atomics.store(streams, thread, 0);
  for (let at = thread; at < connections.length; at += streams.length) {
    Atomics.store(connections, at, 0);
    Atomics.store(publishers, at, 0);
  }
}

/** The open connections and the budgets of each caller, for all threads together. */
export class CallerCounts {
  readonly #hashes: BigInt64Array;
  readonly #connections: Int32Array;
  readonly #publishers: Int32Array;
  readonly #requestedPlaces: BigInt64Array;
  readonly #streams: Int32Array;
  /** The budgets of all callers. The budgets of a caller begin at {@link placeOfBudgets}. */
  readonly budgets: BigInt64Array;
  readonly #thread: number;
  /** The places of callers that this thread knows. A caller's place never changes. */
  readonly #places = new Map<string, number>();

  /** @param thread the thread whose connections are counted */
  constructor(
    { hashes, connections, publishers, requestedPlaces, streams, budgets }: CallersMemory,
    thread: number,
  ) {
    this.#hashes = new BigInt64Array(hashes);
    this.#requestedPlaces = new BigInt64Array(requestedPlaces);
    this.#connections = new Int32Array(connections);
    this.#publishers = new Int32Array(publishers);
    this.#streams = new Int32Array(streams);
    this.budgets = new BigInt64Array(budgets);
    this.#thread = thread;
  }

  /**
   * Returns the place of a caller. The place is the same for all threads. If no place is free, the caller shares the place and
   * the limits of another caller.
   */
  placeOf(identity: string): number {
    let place = this.#places.get(identity);
    if (place === undefined) {
      place = this.#claim(identity);
      this.#places.set(identity, place);
    }
    return place;
  }

  #claim(identity: string): number {
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
    return this.#add(this.#connections, place, connectionsMax);
  }

  close(place: number): void {
    this.#takeOff(this.#connections, place);
  }

  /**
   * Counts a connection of a publisher, unless the caller already has `publishersMax`.
   * @returns true if the connection was counted
   */
  openPublisher(place: number, publishersMax: number): boolean {
    return this.#add(this.#publishers, place, publishersMax);
  }

  closePublisher(place: number): void {
    this.#takeOff(this.#publishers, place);
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
    return this.#add(this.#streams, ALL_CALLERS, streamsMax);
  }

  closeStream(): void {
    this.#takeOff(this.#streams, ALL_CALLERS);
  }

  #add(counts: Int32Array, place: number, max: number): boolean {
    const first = place * this.#streams.length;
    Atomics.add(counts, first + this.#thread, 1);
    if (sum(counts, first, this.#streams.length) <= max) return true;
    this.#takeOff(counts, place);
    return false;
  }

  #takeOff(counts: Int32Array, place: number): void {
    Atomics.sub(counts, place * this.#streams.length + this.#thread, 1);
  }
}

/** The place of the counts for all callers together. */
const ALL_CALLERS = 0;

function sum(counts: Int32Array, first: number, length: number): number {
  let total = 0;
  for (let i = 0; i < length; i++) total += Atomics.load(counts, first + i);
  return total;
}
