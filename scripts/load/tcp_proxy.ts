import { connect, createServer, type Server, type Socket } from 'node:net';

/** The treatment of bytes by a {@link TcpProxy}: pass them on, drop them, or end connections. */
export type ProxyState = 'open' | 'silent' | 'closed';

/** A proxy between a client and a server of this machine, which can lose their connections as networks do. */
export class TcpProxy {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #state: ProxyState = 'open';

  private constructor(server: Server) {
    this.#server = server;
  }

  /** Listens on a free port of 127.0.0.1. */
  static async start(targetPort: number): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server);
    server.on('connection', (socket) => proxy.#join(socket, connect(targetPort, '127.0.0.1')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as { readonly port: number }).port;
  }

  /** The number of present connections through it. */
  get connections(): number {
    return this.#pairs.size;
  }

  /**
   * The state. `silent`: connections stay and no byte gets through in either direction, as when packets are dropped. `closed`:
   * connections end and none begins. `open` again: bytes that were held back get through.
   */
  set state(state: ProxyState) {
    this.#state = state;
    for (const pair of this.#pairs) this.#apply(pair);
  }

  stop(): Promise<void> {
    this.state = 'closed';
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #join(client: Socket, server: Socket): void {
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    const end = () => {
      this.#pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) {
      socket.setNoDelay(true);
      socket.on('error', end).on('close', end);
    }
    this.#apply(pair);
  }

  #apply(pair: readonly [Socket, Socket]): void {
    const [client, server] = pair;
    if (this.#state === 'open') {
      client.pipe(server);
      server.pipe(client);
    } else if (this.#state === 'silent') {
      for (const socket of pair) socket.unpipe().pause();
    } else for (const socket of pair) socket.destroy();
  }
}
