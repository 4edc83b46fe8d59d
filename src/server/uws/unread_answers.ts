import type { HttpResponse } from 'uWebSockets.js';
import { SharedRoom } from '../../fair/shared_room.js';

/** The bytes of answers that wait for clients to read them, on one thread. */
const UNREAD_ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/**
 * The answers that their clients have not read yet: at most one for each connection, because uWebSockets.js parses no further
 * request before the answer is out, and ends a connection that sends one. A caller has half of the memory that is left; the
 * connection of an answer beyond that ends.
 */
export class UnreadAnswers {
  readonly #room = new SharedRoom(UNREAD_ANSWER_BYTES_MAX);

  /** Bytes of the answers that wait. */
  get bytes(): number {
    return this.#room.bytes;
  }

  /** Ends a response with its body, now or as the client reads it. @param payer the caller whose memory it takes */
  end(res: HttpResponse, body: string | Uint8Array, payer: string): void {
    const total = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    if (res.tryEnd(body, total)[1]) return;
    this.#keep(res, body, total, payer);
  }

  #keep(res: HttpResponse, body: string | Uint8Array, total: number, payer: string): void {
    if (!this.#room.hasRoom(payer, total)) {
      res.close();
      return;
    }
    const bytes = Buffer.from(body);
    this.#room.add(payer, total);
    res.onAborted(() => this.#room.add(payer, -total));
    res.onWritable((offset) => {
      const [isSent, isWhole] = res.tryEnd(bytes.subarray(offset), total);
      if (isWhole) this.#room.add(payer, -total);
      return isSent;
    });
  }
}
