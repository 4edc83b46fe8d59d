import { CLOSES } from '../../wire/close_codes.js';
import type { Caller } from '../access/logins.js';
import type { CallerCounts } from '../access/shared_access.js';
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

  /** Over all threads. */
  readonly #counts: CallerCounts;

  /** @param unfinishedBytesMax what one connection may hold */
  constructor(unfinishedBytesMax: number, counts: CallerCounts) {
    this.#counts = counts;
    this.#perCallerMax = Math.max(1, Math.floor(SILENT_BYTES_PER_CALLER / unfinishedBytesMax));
  }

  add(caller: Caller, socket: Connection): void {
    const silent = this.#byCaller.get(caller) ?? new Set();
    if (silent.has(socket)) return;
    if (!this.#counts.openSilent(this.#counts.placeOf(caller.identity), this.#perCallerMax)) {
      socket.close(CLOSES.tooManySilent.code, CLOSES.tooManySilent.reason);
      return;
    }
    silent.add(socket);
    this.#byCaller.set(caller, silent);
  }

  /** It has answered or closed. */
  delete(caller: Caller, socket: Connection): void {
    const silent = this.#byCaller.get(caller);
    if (!silent?.delete(socket)) return;
    this.#counts.closeSilent(this.#counts.placeOf(caller.identity));
    if (silent.size === 0) this.#byCaller.delete(caller);
  }
}
