import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { MARKETS } from '../../src/sources/adapters/built_in.js';
import type { BuiltInKind } from '../../src/sources/sources_schema.js';
import { DIALECTS, type Fields, type ShownBook } from './exchange_dialects.js';

/** An exchange on this machine with the protocol of a real exchange. */
export class LocalExchange {
  readonly kind: BuiltInKind;
  readonly #server: Server;
  readonly #sockets = new Map<WebSocket, { readonly names: Set<string>; sequence: number }>();
  readonly #books = new Map<string, ShownBook>();
  readonly #known: ReadonlySet<string>;
  /** True while the exchange sends nothing. Connections stay open. */
  isFrozen = false;
  /** True while the exchange sends no quotes. REST and heartbeats continue. */
  isQuiet = false;
  /** The names in requests to REST. */
  readonly askedTops: string[] = [];
  /** The number of accepted connections. */
  connections = 0;
  /** The names of all subscribing messages, in order. */
  readonly asked: string[] = [];

  private constructor(kind: BuiltInKind, pairs: readonly string[], server: Server) {
    this.kind = kind;
    this.#server = server;
    this.#known = new Set(pairs.map(DIALECTS[kind].nameOf));
    server.on('request', ({ url = '' }, response) => {
      if (!url.startsWith('/ticker/')) return void response.end(JSON.stringify(DIALECTS[kind].list(pairs)));
      const asked = decodeURIComponent(url.slice('/ticker/'.length));
      this.askedTops.push(asked);
      const pair = pairs.find((pair) => MARKETS[kind].top.nameOf(pair) === asked);
      const book = pair === undefined ? undefined : this.#books.get(DIALECTS[kind].nameOf(pair));
      if (this.isFrozen || book === undefined) response.destroy();
      else response.end(JSON.stringify(DIALECTS[kind].top(book)));
    });
    const sockets = new WebSocketServer({ server, perMessageDeflate: false });
    sockets.on('connection', (socket) => this.#accept(socket));
  }

  static async start(
    owner: { readonly teardown: (stop: () => void) => void },
    kind: BuiltInKind,
    pairs: readonly string[],
  ): Promise<LocalExchange> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const exchange = new LocalExchange(kind, pairs, server);
    owner.teardown(() => exchange.stop());
    return exchange;
  }

  /** The entry of this exchange in a file of sources. */
  get definition(): string {
    const { port } = this.#server.address() as AddressInfo;
    const address = `127.0.0.1:${port}`;
    return `{ kind: ${this.kind}, url: "ws://${address}", pairs_url: "http://${address}/", ticker_url: "http://${address}/ticker/{symbol}" }`;
  }

  /** Sends new best prices to all subscribers. @param levels the number of levels per side, all at the best price */
  show(pair: string, bid: string, ask: string, atMs: number, levels = 1): void {
    const name = DIALECTS[this.kind].nameOf(pair);
    this.#books.set(name, { bid, ask, atMs, levels });
    for (const socket of this.#sockets.keys()) this.#send(socket, name);
  }

  /** Sends a text to all connections. */
  say(text: string): void {
    for (const socket of this.#sockets.keys()) socket.send(text);
  }

  heartbeat(): void {
    const { heartbeat } = DIALECTS[this.kind];
    for (const [socket, state] of this.#sockets)
      if (heartbeat !== undefined) socket.send(JSON.stringify(heartbeat(state.sequence++)));
      else socket.ping();
  }

  /** Closes all connections, as a restart of the exchange does. */
  endAll(): void {
    for (const socket of this.#sockets.keys()) socket.terminate();
  }

  stop(): void {
    this.endAll();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  get isConnected(): boolean {
    return this.#sockets.size > 0;
  }

  #accept(socket: WebSocket): void {
    this.connections++;
    this.#sockets.set(socket, { names: new Set(), sequence: 0 });
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('message', (data) => this.#receive(socket, String(data)));
  }

  #receive(socket: WebSocket, text: string): void {
    if (text === 'ping') return void socket.send('pong');
    const dialect = DIALECTS[this.kind];
    const message = JSON.parse(text) as Fields;
    const names = dialect.subscribed(message);
    if (names === undefined) return;
    this.asked.push(...names);
    const known = names.filter((name) => this.#known.has(name));
    for (const name of known) this.#sockets.get(socket)?.names.add(name);
    if (this.isFrozen) return;
    const unknown = names.filter((name) => !this.#known.has(name));
    for (const frame of dialect.acknowledge(message, known, unknown)) socket.send(JSON.stringify(frame));
    for (const name of known) this.#send(socket, name);
  }

  #send(socket: WebSocket, name: string): void {
    const state = this.#sockets.get(socket);
    const book = this.#books.get(name);
    if (this.isFrozen || this.isQuiet || book === undefined || state?.names.has(name) !== true) return;
    const frame = DIALECTS[this.kind].quote(name, book, state.sequence++);
    socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }
}
