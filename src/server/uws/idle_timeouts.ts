import { Roster } from '../../model/roster.js';
import { CLOSES } from '../../wire/close_codes.js';
import type { ConnectionPath } from '../connections/connection.js';

/** What a idleTimeouts does to a socket, and what it remembers there. */
export interface IdleTimed {
  readonly path: Pick<ConnectionPath, 'idleTimeoutSeconds' | 'sendsPings'>;
  idlePlace: number;
  /** When something whole was last heard, in seconds of the idleTimeouts's clock. */
  seenAtS: number;
  /** Since something was heard. */
  isPinged: boolean;
  ping(): void;
  close(code: number, reason: string): void;
}

/** Often enough against an idle timeout of 8 s, the shortest that the configuration allows. */
const BEAT_MS = 2_000;

/**
 * Ends sockets of which nothing whole is heard for the idle timeout. uWebSockets.js ends those that send no bytes, but one
 * byte a second of a message that never ends is enough for it. Where readers are pinged, they are from half of the time on.
 */
export class IdleTimeouts<H extends IdleTimed> {
  readonly #hearts = new Roster<'idlePlace', H>('idlePlace');
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  get size(): number {
    return this.#hearts.size;
  }

  /** Starts to call {@link beat}; does not keep the thread alive. */
  start(): void {
    setInterval(() => this.beat(), BEAT_MS).unref();
  }

  add(heart: H): void {
    this.#hearts.add(heart);
    this.hear(heart);
  }

  /** A whole message, ping or pong came. */
  hear(heart: H): void {
    // Whole seconds, which take no memory of their own; rounded so that nobody is ended early.
    heart.seenAtS = Math.ceil(this.#nowMs() / 1_000);
    heart.isPinged = false;
  }

  delete(heart: H): void {
    this.#hearts.delete(heart);
  }

  beat(): void {
    const nowS = Math.floor(this.#nowMs() / 1_000);
    const { members } = this.#hearts;
    for (let i = members.length - 1; i >= 0; i--) {
      const heart = members[i]!;
      const { idleTimeoutSeconds, sendsPings } = heart.path;
      const silentS = nowS - heart.seenAtS;
      if (silentS >= idleTimeoutSeconds) {
        heart.close(CLOSES.idle.code, CLOSES.idle.reason);
      } else if (sendsPings && !heart.isPinged && silentS >= idleTimeoutSeconds / 2) {
        heart.isPinged = true;
        heart.ping();
      }
    }
  }
}
