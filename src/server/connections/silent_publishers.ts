import { CLOSES } from '../../wire/close_codes.js';
import type { Caller } from '../access/logins.js';
import type { Connection } from './connection.js';

/** What the silent connections of one caller may hold of unfinished messages. */
const SILENT_BYTES_PER_CALLER = 16 * 1024 * 1024;

/**
 * Publishing connections that do not answer a ping and on which nothing was accepted yet. Each may hold an unfinished
 * message: uWebSockets.js does not say which do, and a peer in the middle of a frame cannot answer. A caller may have
 * a few of them, for many publishers never read their socket; one more is closed.
 */
export class SilentPublishers {
  readonly #byCaller = new Map<Caller, Set<Connection>>();
  readonly #perCallerMax: number;

  /** @param unfinishedBytesMax what one connection may hold */
  constructor(unfinishedBytesMax: number) {
    this.#perCallerMax = Math.max(1, Math.floor(SILENT_BYTES_PER_CALLER / unfinishedBytesMax));
  }

  add(caller: Caller, socket: Connection): void {
    const silent = this.#byCaller.get(caller);
    if (silent === undefined) this.#byCaller.set(caller, new Set([socket]));
    else if (silent.size < this.#perCallerMax) silent.add(socket);
    else socket.close(CLOSES.tooManySilent.code, CLOSES.tooManySilent.reason);
  }

  /** It has answered or closed. */
  delete(caller: Caller, socket: Connection): void {
    const silent = this.#byCaller.get(caller);
    if (silent?.delete(socket) && silent.size === 0) this.#byCaller.delete(caller);
  }
}
