import type { SocketPath } from './socket.js';

/** What a heartbeat does to a socket. */
export interface Heart {
  ping(): void;
  close(code: number, reason: string): void;
}

/** Often enough against an idle timeout of 8 s, the shortest that the configuration allows. */
const BEAT_MS = 2_000;

/**
 * Ends sockets of which nothing whole is heard for the idle timeout. uWebSockets.js ends those that send no bytes, but one
 * byte a second of a message that never ends is enough for it. Where readers are pinged, they are from half of the time on.
 */
export class Heartbeat<H extends Heart> {
  readonly #heard = new Map<H, Heard>();
  readonly #nowMs: () => number;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Starts to call {@link beat}; does not keep the thread alive. */
  start(): void {
    setInterval(() => this.beat(), BEAT_MS).unref();
  }

  add(heart: H, { idleTimeoutSeconds, sendsPings }: SocketPath): void {
    const idleMs = idleTimeoutSeconds * 1_000;
    this.#heard.set(heart, { atMs: this.#nowMs(), idleMs, sendsPings, isPinged: false });
  }

  /** A whole message, ping or pong came. */
  hear(heart: H): void {
    const heard = this.#heard.get(heart)!;
    heard.atMs = this.#nowMs();
    heard.isPinged = false;
  }

  delete(heart: H): void {
    this.#heard.delete(heart);
  }

  beat(): void {
    const nowMs = this.#nowMs();
    for (const [heart, heard] of this.#heard) {
      const silentMs = nowMs - heard.atMs;
      if (silentMs >= heard.idleMs) {
        heart.close(1008, 'nothing whole was received within the idle timeout');
      } else if (heard.sendsPings && !heard.isPinged && silentMs >= heard.idleMs / 2) {
        heard.isPinged = true;
        heart.ping();
      }
    }
  }
}

interface Heard {
  atMs: number;
  readonly idleMs: number;
  readonly sendsPings: boolean;
  /** Since something was heard. */
  isPinged: boolean;
}
