import { CLOSES } from '../../wire/close_codes.js';
import type { Caller } from '../access/logins.js';
import type { CallerCounts } from '../access/shared_access.js';
import type { Connection } from './connection.js';

/** The number of bytes of unfinished messages that the silent connections of a caller may hold. */
const SILENT_BYTES_PER_CALLER = 16 * 1024 * 1024;

/**
 * Publishing connections that do not answer a ping and have no accepted message yet. Each of them may hold an unfinished message,
 * because a peer cannot answer in the middle of a frame. uWebSockets.js does not report which connections hold an unfinished
 * message. A caller may have a few silent connections, because many publishers never read their socket. The service closes
 * further silent connections.
 */
export class SilentPublishers {
  readonly #byCaller = new Map<Caller, SilentOnes>();
  readonly #perCallerMax: number;

  /** The counts of silent connections on all threads. */
  readonly #counts: CallerCounts;

  /** @param unfinishedBytesMax the number of bytes of an unfinished message that a connection may hold */
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
  /** The index of the caller in the counts. This object stores the index, because a reload may rename the token. */
  readonly place: number;
  readonly sockets: Set<Connection>;
}
