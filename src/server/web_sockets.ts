import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t, WebSocket } from 'uWebSockets.js';
import { strict as assert } from 'node:assert';
import { type Heart, Heartbeat } from './heartbeat.js';
import { readRequest, upgradeFaultOf, writeResponse } from './http.js';
import type { RestRequest, RestResponse } from './rest.js';
import type { OpenSocket, Socket, SocketEvents, SocketPath } from './socket.js';
import { sequenceOf, Topics } from './topics.js';

/** What becomes of an upgrade request: a socket, or a response that refuses it. */
export type UpgradeDecision = OpenSocket | RestResponse;

/** Decides an upgrade request, by calling `answer` once, at once or later. */
export type DecideUpgrade = (
  path: SocketPath,
  request: RestRequest,
  answer: (decision: UpgradeDecision) => void,
) => void;

interface Data {
  readonly open: OpenSocket;
  socket: UwsSocket | undefined;
  events: SocketEvents | undefined;
}

/** From `open` on. */
interface OpenData extends Data {
  socket: UwsSocket;
  events: SocketEvents;
}

/** The WebSockets of one uWebSockets.js app, which belongs to one thread. */
export class WebSockets {
  readonly #app: TemplatedApp;
  readonly #topics = new Topics<UwsSocket>();
  readonly #sockets = new Set<UwsSocket>();
  readonly #heartbeat = new Heartbeat<UwsSocket>(() => performance.now());

  constructor(app: TemplatedApp, paths: readonly SocketPath[], decide: DecideUpgrade) {
    this.#app = app;
    this.#heartbeat.start();
    for (const path of paths) this.#serve(path, decide);
  }

  /**
   * Sends a text frame to every member of a topic. One whose socket still holds bytes leaves the topic instead: the frame
   * would only wait behind older ones. One look a member and frame costs a fiftieth of a write.
   * @param sequence the price sequence of the frame
   */
  publish(topic: number, frame: Uint8Array, sequence: number): void {
    const entry = this.#topics.get(topic);
    if (entry === undefined) return;
    for (const socket of entry.members.keys()) {
      if (socket.ws.getBufferedAmount() === 0) continue;
      const toldOf = sequenceOf(entry, socket);
      socket.leave(topic);
      socket.ws.getUserData().events!.lagged(toldOf);
    }
    entry.sequence = sequence;
    this.#app.publish(String(topic), frame, false);
  }

  #serve(path: SocketPath, decide: DecideUpgrade): void {
    this.#app.ws<Data>(path.path, {
      idleTimeout: path.idleTimeoutSeconds,
      maxPayloadLength: path.parserBytesMax,
      maxBackpressure: path.bufferedBytesMax,
      sendPingsAutomatically: path.sendsPings,
      upgrade: (res, req, context) =>
        upgrade(
          res,
          req,
          context,
          (...args) => decide(path, ...args),
          () => this.#sockets.values().next().value,
        ),
      open: (ws) => {
        const data = ws.getUserData();
        data.socket = new UwsSocket(ws, this.#topics);
        this.#sockets.add(data.socket);
        this.#heartbeat.add(data.socket, path);
        data.events = data.open(data.socket);
      },
      message: (ws, message, isBinary) => {
        const { events, socket } = ws.getUserData() as OpenData;
        this.#heartbeat.hear(socket);
        if (isBinary) ws.end(1003, 'binary messages are not accepted');
        else if (message.byteLength > path.messageBytesMax) events.oversize(message.byteLength);
        else events.text(Buffer.from(message).toString());
      },
      ping: (ws) => this.#heartbeat.hear(ws.getUserData().socket!),
      pong: (ws) => this.#heartbeat.hear(ws.getUserData().socket!),
      drain: (ws) => ws.getUserData().events!.drained(ws.getBufferedAmount()),
      close: (ws) => {
        const { socket, events } = ws.getUserData();
        this.#sockets.delete(socket!);
        this.#heartbeat.delete(socket!);
        socket!.closed();
        events!.closed();
      },
    });
  }
}

function upgrade(
  res: HttpResponse,
  req: HttpRequest,
  context: us_socket_context_t,
  decide: (request: RestRequest, answer: (decision: UpgradeDecision) => void) => void,
  otherSocket: () => UwsSocket | undefined,
): void {
  const request = readRequest(res, req, upgradeFaultOf(req));
  const key = req.getHeader('sec-websocket-key');
  const protocol = req.getHeader('sec-websocket-protocol');
  const extensions = req.getHeader('sec-websocket-extensions');
  let pending = true;
  decide(request, (decision) => {
    if (!pending) return;
    pending = false;
    if (typeof decision !== 'function') {
      writeResponse(res, request.method, decision);
      return;
    }
    const data: Data = { open: decision, socket: undefined, events: undefined };
    // When a decision comes late and the socket stays at its address in memory, the end of `cork` takes the WebSocket for an
    // HTTP response and now and then closes it. While another socket is corked, `cork` only calls back. Without any,
    // uWebSockets.js complains on standard error, which is for the first socket alone.
    const open = () => res.upgrade(data, key, protocol, extensions, context);
    const other = otherSocket();
    if (other === undefined) open();
    else other.ws.cork(() => res.cork(open));
  });
  if (!pending) return;
  res.onAborted(() => {
    pending = false;
  });
}

class UwsSocket implements Socket, Heart {
  #topic: number | undefined;
  #open = true;

  constructor(
    readonly ws: WebSocket<Data>,
    readonly topics: Topics<UwsSocket>,
  ) {}

  send(frame: Uint8Array | string): void {
    if (this.#open && this.ws.send(frame, false) === SEND_DROPPED) this.ws.getUserData().events!.dropped();
  }

  join(topic: number, sequence: number): void {
    if (!this.#open) return;
    assert(this.#topic === undefined, 'a socket is in one topic at a time');
    this.#topic = topic;
    this.topics.join(topic, this, sequence);
    this.ws.subscribe(String(topic));
  }

  leave(topic: number): void {
    if (!this.#open || this.#topic !== topic) return;
    this.#topic = undefined;
    this.topics.leave(topic, this);
    this.ws.unsubscribe(String(topic));
  }

  ping(): void {
    if (this.#open) this.ws.ping();
  }

  close(code: number, reason: string): void {
    if (this.#open) this.ws.end(code, reason);
  }

  /** uWebSockets.js has closed it, and taken it out of its topics. */
  closed(): void {
    this.#open = false;
    if (this.#topic !== undefined) this.topics.leave(this.#topic, this);
  }
}

/** What `send` of uWebSockets.js returns when the message did not fit below `maxBackpressure`. */
const SEND_DROPPED = 2;
