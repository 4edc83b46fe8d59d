import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { Listener } from './listener.js';

/** Opens a listener; the next one on the same port, while the one before still listens. */
export type OpenListener = () => Listener;

/** How often a replaced listener is looked at, whether its last connection has ended. */
const RETIRED_CHECK_MS = 500;

/**
 * The listener for REST and the sockets, and those that it replaced: a new certificate takes a new listener, and the
 * connections of the old one go on until they end by themselves.
 */
export class ReplaceableListener implements Listener {
  readonly #open: OpenListener;
  #current: Listener;
  readonly #retired = new Set<Listener>();

  /** @throws Error when the address is in use or TLS cannot start. */
  constructor(open: OpenListener) {
    this.#open = open;
    this.#current = open();
  }

  /**
   * Replaces the listener. The port is never free in between.
   *
   * The system resets the connections that wait for the old listener when it closes, so it closes right after a turn of the event
   * loop in which it took all of them. What comes in between can still be reset, unless `net.ipv4.tcp_migrate_req` is 1.
   */
  async replace(): Promise<void> {
    const old = this.#current;
    this.#current = this.#open();
    this.#retired.add(old);
    // The first ends in the turn that opened the new listener, the second after the next look for connections.
    await endOfTurn();
    await endOfTurn();
    old.setAccepting(false);
    const check = setInterval(() => {
      if (old.sockets > 0) return;
      clearInterval(check);
      if (this.#retired.delete(old)) void old.close();
    }, RETIRED_CHECK_MS).unref();
  }

  get port(): number {
    return this.#current.port;
  }

  get sockets(): number {
    return [this.#current, ...this.#retired].reduce((sum, { sockets }) => sum + sockets, 0);
  }

  setAccepting(accepting: boolean): void {
    this.#current.setAccepting(accepting);
  }

  async close(): Promise<void> {
    const open = [this.#current, ...this.#retired];
    this.#retired.clear();
    await Promise.all(open.map((listener) => listener.close()));
  }
}
