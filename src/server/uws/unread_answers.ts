import type { HttpResponse } from 'uWebSockets.js';
import { SharedRoom } from '../../model/shared_room.js';
import { PartedBody } from '../http/parted_body.js';

/** The largest number of bytes of answers that wait for clients to read them, on one thread. */
export const UNREAD_ANSWER_BYTES_MAX = 32 * 1024 * 1024;
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

/** Returns the bytes of a body from an offset, or the first part of these bytes. */
type Pieces = (offset: number) => Uint8Array;
/** The state of an answer: sent, waiting for its client, or waiting for the next turn. */
type Sent = 'whole' | 'unread' | 'in part';

/**
 * The answers that their clients have not read yet. Each connection has at most one such answer, because uWebSockets.js parses no
 * further request before the answer is sent, and ends a connection that sends another request. A caller may use half of the free
 * memory; an answer beyond this share ends its connection.
 */
export class UnreadAnswers {
  readonly #room = new SharedRoom(UNREAD_ANSWER_BYTES_MAX);
  readonly #write = Buffer.allocUnsafeSlow(WRITE_BYTES);
  /** The bytes of the waiting answers. */
  get bytes(): number {
    return this.#room.bytes;
  }

  /**
   * Ends a response with its body, now or at the speed at which the client reads.
   * @param payer the caller whose share of memory the answer uses
   */
  end(res: HttpResponse, body: Uint8Array | PartedBody, payer: string): void {
    if (body instanceof PartedBody) {
      const pieces = (offset: number) => this.#write.subarray(0, body.copy(offset, this.#write));
      const sent = sendPieces(res, pieces, 0, body.length);
      if (sent !== 'whole') this.#keepUnsent(res, pieces, body.length, payer, sent);
      return;
    }
    // Not 'end': it would leave what a client does not read to uWebSockets.js, without a bound.
    if (res.tryEnd(body, body.length)[1]) return;
    const bytes = Buffer.from(body);
    this.#keepUnsent(res, (offset) => bytes.subarray(offset), bytes.length, payer, 'unread');
  }

  #keepUnsent(res: HttpResponse, pieces: Pieces, total: number, payer: string, sent: Sent): void {
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
      const state = sendPieces(res, pieces, offset, total);
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
function sendPieces(res: HttpResponse, pieces: Pieces, from: number, total: number): Sent {
  for (let offset = from; offset - from < TURN_BYTES; ) {
    const piece = pieces(offset);
    const [isTaken, isWhole] = res.tryEnd(piece, total);
    if (isWhole) return 'whole';
    if (!isTaken) return 'unread';
    offset += piece.length;
  }
  return 'in part';
}
