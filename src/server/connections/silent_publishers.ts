import { CLOSES } from '../../wire/close_codes.js';
import type { Caller } from '../access/logins.js';
import type { CallerCounts } from '../access/shared_access.js';
import type { Connection } from './connection.js';

/** The bytes of unfinished messages that the silent connections of one caller may hold. */
const SILENT_BYTES_PER_CALLER = 16 * 1024 * 1024;

/**
 * Publishing connections that do not answer a ping and on which nothing was accepted yet. Each may hold an unfinished message:
 * uWebSockets.js does not report which do, and a peer in the middle of a frame cannot answer. A caller may have a few of them,
 * because many publishers never read their socket; one more is closed.
 */
export class SilentPublishers {
  readonly #byCaller = new Map<Caller, SilentOnes>();
  readonly #perCallerMax: number;

  /** Counts over all threads. */
  readonly #counts: CallerCounts;

  /** @param unfinishedBytesMax the bytes of an unfinished message that one connection may hold */
  constructor(unfinishedBytesMax: number, counts: CallerCounts) {
    this.#counts = counts;
    this.#perCallerMax = Math.max(1, Math.floor(SILENT_BYTES_PER_CALLER / unfinishedBytesMax));
  }

  add(caller: Caller, socket: Connection): void {
    const silent = this.#byCaller.get(caller) ?? {
      place: this.#counts.placeOf(caller.identity),
      sockets: new Set(),
    };
    if (silent.sockets.has(socket)) return;
    if (!this.#counts.openSilent(silent.place, this.#perCallerMax)) {
      socket.close(CLOSES.tooManySilent.code, CLOSES.tooManySilent.reason);
      return;
    }
    silent.sockets.add(socket);
    this.#byCaller.set(caller, silent);
  }

  /** Removes a socket that has answered or closed. */
  delete(caller: Caller, socket: Connection): void {
    const silent = this.#byCaller.get(caller);
    if (!silent?.sockets.delete(socket)) return;
    this.#counts.closeSilent(silent.place);
    if (silent.sockets.size === 0) this.#byCaller.delete(caller);
  }
}

/** The silent connections of one caller. */
interface SilentOnes {
  /** The place where the sockets are counted; a reload may rename a token meanwhile. */
  readonly place: number;
  readonly sockets: Set<Connection>;
}
