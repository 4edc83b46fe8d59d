import { connect, createServer, type Server, type Socket } from 'node:net';

/** The behaviour of a {@link TcpProxy}: it forwards bytes, delays bytes, or closes connections. */
export type ProxyState = 'open' | 'silent' | 'closed';

/** A proxy between a client and a server of this machine. The proxy can interrupt their connections like a network fault. */
export class TcpProxy {
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #state: ProxyState = 'open';

  /** @param targetPort the port of the server for new connections */
  private constructor(
    server: Server,
    public targetPort: number,
  ) {
    this.#server = server;
  }

  /** Listens on a free port of 127.0.0.1. */
  static async start(targetPort: number): Promise<TcpProxy> {
    const server = createServer();
    const proxy = new TcpProxy(server, targetPort);
    server.on('connection', (socket) => proxy.#join(socket, connect(proxy.targetPort, '127.0.0.1')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as { readonly port: number }).port;
  }

  /** The number of open connections through the proxy. */
  get connections(): number {
    return this.#pairs.size;
  }

  /**
   * The state of the proxy.
   * - `silent`: connections stay open, but no byte is forwarded in either direction, as if the network dropped all packets.
   * - `closed`: the proxy closes connections and refuses new connections.
   * - `open`: bytes are forwarded, including the delayed bytes.
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
