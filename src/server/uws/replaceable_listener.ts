import { type Listener, stopAccepting } from './listener.js';

/** Opens a listener. Each further call opens another listener on the same port, while the former listener still listens. */
export type OpenListener = () => Listener;

/** The interval at which a replaced listener is checked for open WebSockets. */
const RETIRED_CHECK_MS = 500;
/**
 * The time after which no HTTP connection is left. uWebSockets.js ends idle connections after 8 to 12 s; other connections end
 * with an answer.
 */
const HTTP_MS_MAX = 16_000;

/**
 * The listener for REST and the sockets, with the listeners that it replaced. A new certificate needs a new listener. WebSockets
 * of an old listener stay until they end for another reason, and HTTP connections stay until their next answer.
 */
export class ReplaceableListener implements Omit<Listener, 'retire'> {
  readonly #open: OpenListener;
  #current: Listener;
  readonly #retired = new Set<Listener>();

  /** @throws Error when the address is in use or TLS cannot start */
  constructor(open: OpenListener) {
    this.#open = open;
    this.#current = open();
  }

  /** Replaces the listener. The port is never free during the replacement. */
  async replace(): Promise<void> {
    const old = this.#current;
    this.#current = this.#open();
    this.#retired.add(old);
    await stopAccepting(old);
    old.retire();
    const endMs = performance.now() + HTTP_MS_MAX;
    const check = setInterval(() => {
      if (old.sockets > 0 || performance.now() < endMs) return;
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
