import { hash, randomBytes } from 'node:crypto';
import { type Clock, NS_PER_MS } from '../../model/time.js';
import { TICKET_LIFETIME_S } from '../../wire/stream_ticket.js';

/** A ticket for a web page of a token's holder. A ticket opens one stream. */
export interface Ticket {
  readonly text: string;
  /** The end of the ticket's validity, in UNIX milliseconds. */
  readonly expiresMs: number;
}

/** The largest number of unused tickets of all tokens together. */
export const TICKETS_MAX = 8192;
/** The largest number of unused tickets of a token. A further ticket replaces the token's oldest ticket. */
export const TICKETS_PER_TOKEN_MAX = 128;

const TICKET_BYTES = 32;
const HASH_BYTES = 32;
const HASH_WORDS = HASH_BYTES / Int32Array.BYTES_PER_ELEMENT;
const LIFETIME_MS = TICKET_LIFETIME_S * 1000;

/** Creates memory for the tickets of all threads of a service. */
export function createTicketMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(TICKETS_MAX * SLOT_BYTES);
}

/**
 * The unused tickets, in memory that several threads share. A ticket from any thread opens a stream once, on any thread. Each ticket has a
 * slot with the hash of its text and the hash of its token. A thread locks a slot before it reads or writes the hashes. No thread waits for
 * a lock, because threads skip locked slots.
 */
export class TicketIssuer {
  readonly #clock: Clock;
  readonly #expiresMs: Float64Array;
  readonly #states: Int32Array;
  readonly #tickets: HashColumn;
  readonly #tokens: HashColumn;

  /** @param memory the result of {@link createTicketMemory} */
  constructor(memory: SharedArrayBuffer, clock: Clock) {
    this.#clock = clock;
    this.#expiresMs = new Float64Array(memory, 0, TICKETS_MAX);
    this.#states = new Int32Array(memory, this.#expiresMs.byteLength, TICKETS_MAX);
    const hashesAt = this.#states.byteOffset + this.#states.byteLength;
    this.#tickets = new HashColumn(memory, hashesAt);
    this.#tokens = new HashColumn(memory, hashesAt + TICKETS_MAX * HASH_BYTES);
  }

  /**
   * @param tokenHash the SHA-256 of the token's text
   * @returns a new ticket for the token, or `undefined` when {@link TICKETS_MAX} tickets exist
   */
  issue(tokenHash: Buffer): Ticket | undefined {
    const text = randomBytes(TICKET_BYTES).toString('base64url');
    const [ticket, token] = [hashOf(text), wordsOf(tokenHash)];
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
      const nowMs = this.#nowMs();
      const slot = this.#slotFor(token, nowMs);
      if (slot === undefined) return undefined;
      if (!this.#lockSlot(slot)) continue;
      const expiresMs = nowMs + LIFETIME_MS;
      this.#tickets.write(slot.place, ticket);
      this.#tokens.write(slot.place, token);
      this.#expiresMs[slot.place] = expiresMs;
      Atomics.store(this.#states, slot.place, HELD);
      return { text, expiresMs };
    }
    return undefined;
  }

  /** Uses up a ticket. @returns the hex of its token's hash, or `undefined` when the ticket is unknown, used or expired */
  take(text: string): string | undefined {
    const ticket = hashOf(text);
    for (let place = 0; place < TICKETS_MAX; place++) {
      if (!this.#tickets.holds(place, ticket)) continue;
      if (Atomics.compareExchange(this.#states, place, HELD, LOCKED) !== HELD) continue;
      const isSame = this.#tickets.holds(place, ticket);
      const token = this.#tokens.hexAt(place);
      const isGood = isGoodAt(this.#nowMs(), this.#expiresMs[place]!);
      Atomics.store(this.#states, place, isSame ? FREE : HELD);
      if (isSame) return isGood ? token : undefined;
    }
    return undefined;
  }

  /**
   * Returns the slot of the token's oldest ticket if the token has its maximum number of tickets. Otherwise returns a slot
   * without a valid ticket.
   */
  #slotFor(token: Int32Array, nowMs: number): SeenSlot | undefined {
    let free: SeenSlot | undefined;
    let oldest: SeenSlot | undefined;
    let own = 0;
    for (let place = 0; place < TICKETS_MAX; place++) {
      const state = Atomics.load(this.#states, place);
      if (state === LOCKED) continue;
      const expiresMs = this.#expiresMs[place]!;
      if (state === FREE || !isGoodAt(nowMs, expiresMs)) free ??= { place, state, expiresMs };
      else if (this.#tokens.holds(place, token)) {
        own++;
        if (oldest === undefined || expiresMs < oldest.expiresMs) oldest = { place, state, expiresMs };
      }
    }
    return own < TICKETS_PER_TOKEN_MAX ? free : oldest;
  }

  /** Locks a slot, unless another thread has changed it since this thread read it. */
  #lockSlot({ place, state, expiresMs }: SeenSlot): boolean {
    if (Atomics.compareExchange(this.#states, place, state, LOCKED) !== state) return false;
    if (state === FREE || this.#expiresMs[place] === expiresMs) return true;
    Atomics.store(this.#states, place, state);
    return false;
  }

  #nowMs(): number {
    return Number(this.#clock.nowNs() / NS_PER_MS);
  }
}

/** The content of a slot at the time at which a thread read the slot. */
interface SeenSlot {
  readonly place: number;
  readonly state: number;
  readonly expiresMs: number;
}

/** The states of a slot. If a thread ends while it holds the lock of a slot, nobody can use the slot again. */
const FREE = 0;
const LOCKED = 1;
const HELD = 2;

const SLOT_BYTES = Float64Array.BYTES_PER_ELEMENT + Int32Array.BYTES_PER_ELEMENT + 2 * HASH_BYTES;

/** The number of attempts. Each other thread can take at most one slot, and there are far fewer threads than attempts. */
const ATTEMPTS_MAX = 1000;

/** Checks the time of a ticket. A time that is too far ahead was stored before the clock went back; such a ticket is invalid. */
function isGoodAt(nowMs: number, expiresMs: number): boolean {
  return expiresMs > nowMs && expiresMs <= nowMs + LIFETIME_MS;
}

/**
 * The hash of each slot. A search through all hashes takes 20 µs. With a call of `Buffer.equals` for each hash, the search would take 1 ms.
 */
class HashColumn {
  readonly #words: Int32Array;

  constructor(memory: SharedArrayBuffer, offset: number) {
    this.#words = new Int32Array(memory, offset, TICKETS_MAX * HASH_WORDS);
  }

  /** Compares in variable time. This is safe because no caller can choose a hash. */
  holds(place: number, hash: Int32Array): boolean {
    for (let i = 0; i < HASH_WORDS; i++) if (this.#words[place * HASH_WORDS + i] !== hash[i]) return false;
    return true;
  }

  write(place: number, hash: Int32Array): void {
    this.#words.set(hash, place * HASH_WORDS);
  }

  hexAt(place: number): string {
    const { buffer, byteOffset } = this.#words;
    return Buffer.from(buffer, byteOffset + place * HASH_BYTES, HASH_BYTES).toString('hex');
  }
}

function hashOf(text: string): Int32Array {
  return wordsOf(hash('sha256', text, 'buffer'));
}

function wordsOf(bytes: Buffer): Int32Array {
  return new Int32Array(new Uint8Array(bytes).buffer);
}
