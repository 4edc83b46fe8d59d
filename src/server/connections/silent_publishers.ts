import { CLOSES } from '../../wire/close_codes.js';
import type { Token } from '../access/tokens.js';
import type { Connection } from './connection.js';

/** What the silent connections of one token may hold of unfinished messages. */
const SILENT_BYTES_PER_TOKEN = 16 * 1024 * 1024;

/**
 * Publishing connections that do not answer a ping and on which nothing was accepted yet. Each may hold an unfinished
 * message: uWebSockets.js does not say which do, and a peer in the middle of a frame cannot answer. A token may have
 * a few of them, for many publishers never read their socket; one more is closed.
 */
export class SilentPublishers {
  readonly #byToken = new Map<Token, Set<Connection>>();
  readonly #perTokenMax: number;

  /** @param unfinishedBytesMax what one connection may hold */
  constructor(unfinishedBytesMax: number) {
    this.#perTokenMax = Math.max(1, Math.floor(SILENT_BYTES_PER_TOKEN / unfinishedBytesMax));
  }

  add(token: Token, socket: Connection): void {
    const silent = this.#byToken.get(token);
    if (silent === undefined) this.#byToken.set(token, new Set([socket]));
    else if (silent.size < this.#perTokenMax) silent.add(socket);
    else socket.close(CLOSES.tooManySilent.code, CLOSES.tooManySilent.reason);
  }

  /** It has answered or closed. */
  delete(token: Token, socket: Connection): void {
    const silent = this.#byToken.get(token);
    if (silent?.delete(socket) && silent.size === 0) this.#byToken.delete(token);
  }
}
