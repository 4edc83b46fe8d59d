import type { HttpResponse } from 'uWebSockets.js';
import { SharedRoom } from '../../fair/shared_room.js';
import { PartedBody } from '../http/parted_body.js';

/** The largest number of bytes of answers that wait for clients to read them, on one thread. */
const UNREAD_ANSWER_BYTES_MAX = 32 * 1024 * 1024;
/**
 * The number of bytes of a parted body that one write copies. With writes of a single part of 25 KB, the
 * overhead of the writes takes a third of the time.
 */
const WRITE_BYTES = 256 * 1024;
/**
 * The number of bytes of a parted body that the thread writes in a turn of the event loop. The kernel takes 1 MiB in about 0.3
 * ms.
 */
const TURN_BYTES = 1024 * 1024;

/**
 * The largest small answer. With its head, a small answer fits into the buffer in which uWebSockets.js collects bytes to write (16 KiB). So
 * `tryEnd` refuses a small answer only if older bytes of the connection still wait.
 */
const SMALL_BYTES_MAX = 15 * 1024;
/**
 * The average number of bytes of small answers between two checks of a thread. An answer of 1 kB without a check takes 5 % less time, because
 * `tryEnd` returns an array.
 */
const UNCHECKED_BYTES_MEAN = 64 * 1024;
/**
 * The time for which every answer is checked after a client was found that does not read. In this time uWebSockets.js ends the other
 * connections with waiting bytes, unless they read or request again: it waits 10 to 14 s.
 */
const ALL_CHECKED_MS = 20_000;

/** Returns the bytes of a body from an offset, or the first part of these bytes. */
type Pieces = (offset: number) => Uint8Array;
/** The state of an answer: sent, waiting for its client, or waiting for the next turn. */
type Sent = 'whole' | 'unread' | 'in part';

/**
 * The answers that their clients have not read yet. Each connection has at most one such answer, because uWebSockets.js parses no
 * further request before the answer is sent, and ends a connection that sends another request. A caller may use half of the free
 * memory; an answer beyond this share ends its connection.
 *
 * Small answers are checked at random: most of them go to uWebSockets.js, which keeps what a client does not read. No client can predict
 * the checks, and all connections of the thread share them. So a thread has on average {@link UNCHECKED_BYTES_MEAN} of unread small answers
 * when a check finds the first of them.
 */
export class UnreadAnswers {
  readonly #room = new SharedRoom(UNREAD_ANSWER_BYTES_MAX);
  readonly #write = Buffer.allocUnsafeSlow(WRITE_BYTES);
  readonly #random: () => number;
  readonly #nowMs: () => number;
  /** The bytes of small answers before the next check. */
  #uncheckedBytes = 0;
  #allCheckedUntilMs = Number.NEGATIVE_INFINITY;

  /**
   * @param random returns a number from 0 to less than 1
   * @param nowMs the time of a clock that does not go back
   */
  constructor(random: () => number = Math.random, nowMs: () => number = () => performance.now()) {
    this.#random = random;
    this.#nowMs = nowMs;
  }

  /** The bytes of the waiting answers. */
  get bytes(): number {
    return this.#room.bytes;
  }

  /**
   * Ends a response with its body, now or at the speed at which the client reads.
   * @param payer the caller whose share of memory the answer uses
   */
  end(res: HttpResponse, body: string | Uint8Array | PartedBody, payer: string): void {
    if (body instanceof PartedBody) {
      const pieces = (offset: number) => this.#write.subarray(0, body.copy(offset, this.#write));
      const sent = send(res, pieces, 0, body.length);
      if (sent !== 'whole') this.#keep(res, pieces, body.length, payer, sent);
      return;
    }
    const total = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    const isSmall = total <= SMALL_BYTES_MAX;
    if (isSmall && this.#isUnchecked(total)) {
      res.end(body);
      return;
    }
    const isWhole = res.tryEnd(body, total)[1];
    if (isSmall) this.#checked(isWhole);
    if (isWhole) return;
    const bytes = Buffer.from(body);
    this.#keep(res, (offset) => bytes.subarray(offset), total, payer, 'unread');
  }

  /** Takes a small answer from the bytes before the next check. */
  #isUnchecked(bytes: number): boolean {
    this.#uncheckedBytes -= bytes;
    return this.#uncheckedBytes >= 0;
  }

  /** Chooses the next check. With the exponential distribution, each byte is checked with the same probability. */
  #checked(isRead: boolean): void {
    const nowMs = this.#nowMs();
    if (!isRead) this.#allCheckedUntilMs = nowMs + ALL_CHECKED_MS;
    this.#uncheckedBytes =
      nowMs < this.#allCheckedUntilMs ? 0 : -UNCHECKED_BYTES_MEAN * Math.log(1 - this.#random());
  }

  #keep(res: HttpResponse, pieces: Pieces, total: number, payer: string, sent: Sent): void {
    if (!this.#room.hasRoom(payer, total)) {
      res.close();
      return;
    }
    this.#room.add(payer, total);
    let isOpen = true;
    const end = () => {
      if (isOpen) this.#room.add(payer, -total);
      isOpen = false;
    };
    const more = (offset: number): boolean => {
      if (!isOpen) return true;
      const state = send(res, pieces, offset, total);
      if (state === 'whole') end();
      else if (state === 'in part') inNextTurn();
      return state !== 'unread';
    };
    const inNextTurn = () =>
      setImmediate(() => {
        if (isOpen) res.cork(() => more(res.getWriteOffset()));
      });
    res.onAborted(end);
    res.onWritable(more);
    if (sent === 'in part') inNextTurn();
  }
}

/** Writes pieces until the body is sent, the client stops reading, or the bytes of a turn are used up. */
function send(res: HttpResponse, pieces: Pieces, from: number, total: number): Sent {
  for (let offset = from; offset - from < TURN_BYTES; ) {
    const piece = pieces(offset);
    const [isTaken, isWhole] = res.tryEnd(piece, total);
    if (isWhole) return 'whole';
    if (!isTaken) return 'unread';
    offset += piece.length;
  }
  return 'in part';
}
