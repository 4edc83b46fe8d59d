import { createHash } from 'node:crypto';
import { budgetWords } from '../../fair/budget.js';
import { type CallerTimesMemory, createCallerTimes } from './caller_times.js';
import { createTicketMemory } from './ticket_issuer.js';

/** What the edges of a process count together, and the tickets that they issue, in memory that they share. */
export interface SharedAccess {
  /** Of requests: tokens, keys, and client addresses on open routes. */
  readonly requests: CallerTimesMemory;
  /** Of failed logins: client addresses. */
  readonly failures: CallerTimesMemory;
  /** Of tokens and keys that were used from a client address: when that was. */
  readonly familiar: CallerTimesMemory;
  /** One 64-bit word: until then there may be a client address with too many failed logins. */
  readonly limitedUntilNs: SharedArrayBuffer;
  readonly callers: CallersMemory;
  readonly tickets: SharedArrayBuffer;
}

export interface CallersMemory {
  /** The hash of each caller's identity; 0 where there is none. */
  readonly hashes: SharedArrayBuffer;
  /** Open connections of each caller on each thread. */
  readonly connections: SharedArrayBuffer;
  /** And those publishing ones that may hold an unfinished message. */
  readonly silent: SharedArrayBuffer;
  /** Open streaming connections of each thread. */
  readonly streams: SharedArrayBuffer;
  /** {@link BUDGETS_PER_CALLER} words for each caller. */
  readonly budgets: SharedArrayBuffer;
}

/** Tokens, and keys that log in by signature, that came since the start of the process. Memory that is never used costs none. */
const CALLERS_MAX = 32_768;
/** How many budgets a caller can have. */
export const BUDGETS_PER_CALLER = 8;

/** @param threads how many edges share it */
export function createSharedAccess(threads: number): SharedAccess {
  return {
    requests: createCallerTimes(),
    failures: createCallerTimes(),
    familiar: createCallerTimes(),
    limitedUntilNs: new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT),
    tickets: createTicketMemory(),
    callers: {
      hashes: new SharedArrayBuffer(CALLERS_MAX * BigInt64Array.BYTES_PER_ELEMENT),
      connections: new SharedArrayBuffer(CALLERS_MAX * threads * Int32Array.BYTES_PER_ELEMENT),
      silent: new SharedArrayBuffer(CALLERS_MAX * threads * Int32Array.BYTES_PER_ELEMENT),
      streams: new SharedArrayBuffer(threads * Int32Array.BYTES_PER_ELEMENT),
      budgets: budgetWords(CALLERS_MAX * BUDGETS_PER_CALLER).buffer as SharedArrayBuffer,
    },
  };
}

/** Takes what a thread that has ended still counted as open off. */
export function forgetThread({ callers }: SharedAccess, thread: number): void {
  const streams = new Int32Array(callers.streams);
  const connections = new Int32Array(callers.connections);
  const silent = new Int32Array(callers.silent);
  Atomics.store(streams, thread, 0);
  for (let at = thread; at < connections.length; at += streams.length) {
    Atomics.store(connections, at, 0);
    Atomics.store(silent, at, 0);
  }
}

/** What is counted of each caller over all threads: its open connections, and its budgets. */
export class CallerCounts {
  readonly #hashes: BigInt64Array;
  readonly #connections: Int32Array;
  readonly #silent: Int32Array;
  readonly #streams: Int32Array;
  /** Of all callers; those of one begin at {@link placeOfBudgets}. */
  readonly budgets: BigInt64Array;
  readonly #thread: number;
  /** Of this thread: a caller's place never changes. */
  readonly #places = new Map<string, number>();

  /** @param thread whose connections these are */
  constructor({ hashes, connections, silent, streams, budgets }: CallersMemory, thread: number) {
    this.#hashes = new BigInt64Array(hashes);
    this.#connections = new Int32Array(connections);
    this.#silent = new Int32Array(silent);
    this.#streams = new Int32Array(streams);
    this.budgets = new BigInt64Array(budgets);
    this.#thread = thread;
  }

  /** The place of a caller, the same for all threads. When there are no more places, a caller shares that of another and its limits. */
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

  /** Counts a connection of the caller, unless it has so many already. @returns whether it was counted */
  open(place: number, connectionsMax: number): boolean {
    return this.#add(this.#connections, place, connectionsMax);
  }

  close(place: number): void {
    this.#takeOff(this.#connections, place);
  }

  /** The same for connections that are silent. */
  openSilent(place: number, silentMax: number): boolean {
    return this.#add(this.#silent, place, silentMax);
  }

  closeSilent(place: number): void {
    this.#takeOff(this.#silent, place);
  }

  /** The same for the streaming connections of all callers. */
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

/** The one place of what is counted for all callers together. */
const ALL_CALLERS = 0;

function sum(counts: Int32Array, first: number, length: number): number {
  let total = 0;
  for (let i = 0; i < length; i++) total += Atomics.load(counts, first + i);
  return total;
}
