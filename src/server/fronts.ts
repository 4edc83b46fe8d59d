import type { Front, FrontHost } from './front.js';

export interface FrontsOptions {
  readonly host: FrontHost;
  /** Opens a listener; the next one on the same port, while the one before still listens. */
  readonly open: (host: FrontHost) => Promise<Front>;
}

/**
 * The listener for REST and the sockets, and those that it replaced: a new certificate takes a new listener, and the
 * connections of the old one go on until they end by themselves.
 */
export class Fronts implements Front {
  readonly #options: FrontsOptions;
  #current: Held;
  readonly #retired = new Set<Held>();

  private constructor(options: FrontsOptions, first: Held) {
    this.#options = options;
    this.#current = first;
  }

  /** @throws Error when the address is in use or TLS cannot start. */
  static async open(options: FrontsOptions): Promise<Fronts> {
    return new Fronts(options, await hold(options));
  }

  /** Replaces the listener. The port is never free in between. */
  async replace(): Promise<void> {
    const old = this.#current;
    this.#current = await hold(this.#options);
    old.front.setAccepting(false);
    this.#retired.add(old);
    old.retire(() => {
      this.#retired.delete(old);
      return old.front.close();
    });
  }

  get port(): number {
    return this.#current.front.port;
  }

  get threads(): number {
    return this.#current.front.threads;
  }

  publish(topic: number, frame: Uint8Array, sequence: number): void {
    this.#current.front.publish(topic, frame, sequence);
    for (const { front } of this.#retired) front.publish(topic, frame, sequence);
  }

  setAccepting(accepting: boolean): void {
    this.#current.front.setAccepting(accepting);
  }

  async close(): Promise<void> {
    await Promise.all([this.#current, ...this.#retired].map(({ front }) => front.close()));
    this.#retired.clear();
  }
}

/** A listener and how many sockets it has. */
interface Held {
  readonly front: Front;
  /** Has `close` called as soon as it has none. */
  retire(close: () => Promise<void>): void;
}

async function hold({ host, open }: FrontsOptions): Promise<Held> {
  let sockets = 0;
  let close: (() => Promise<void>) | undefined;
  const closeWhenEmpty = () => {
    // Not from within what a socket of it calls.
    if (sockets === 0 && close !== undefined) setImmediate(close);
  };
  const counting: FrontHost = {
    ...host,
    decideUpgrade(endpoint, request) {
      const decision = host.decideUpgrade(endpoint, request);
      if (typeof decision !== 'function') return decision;
      return (socket) => {
        sockets++;
        const events = decision(socket);
        return {
          ...events,
          closed() {
            sockets--;
            events.closed();
            closeWhenEmpty();
          },
        };
      };
    },
  };
  const front = await open(counting);
  return {
    front,
    retire(closeFront) {
      close = closeFront;
      closeWhenEmpty();
    },
  };
}
