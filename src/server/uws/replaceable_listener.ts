import { type Listener, stopAccepting } from './listener.js';

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

  /** Replaces the listener. The port is never free in between. */
  async replace(): Promise<void> {
    const old = this.#current;
    this.#current = this.#open();
    this.#retired.add(old);
    await stopAccepting(old);
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
