import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t, WebSocket } from 'uWebSockets.js';
import { strict as assert } from 'node:assert';
import { type Heart, Heartbeat } from './heartbeat.js';
import { readRequest, upgradeFaultOf, writeResponse } from './http.js';
import type { RestRequest, RestResponse } from './rest.js';
import type { OpenSocket, Socket, SocketEvents, SocketOwner, SocketPath } from './socket.js';
import { type Member, sequenceOf, Topics } from './topics.js';

/** What becomes of an upgrade request: a socket, or a response that refuses it. */
export type UpgradeDecision = OpenSocket | RestResponse;

/** Decides an upgrade request, by calling `answer` once, at once or later. */
export type DecideUpgrade = (
  path: SocketPath,
  request: RestRequest,
  answer: (decision: UpgradeDecision) => void,
) => void;

interface Data {
  readonly socket: UwsSocket;
  /** Until it is open. */
  open: OpenSocket | undefined;
}

/** The WebSockets of one uWebSockets.js app, which belongs to one thread. */
export class WebSockets {
  readonly #app: TemplatedApp;
  readonly #actLate: ((what: () => void) => void) | undefined;
  readonly #topics = new Topics<UwsSocket>();
  readonly #heartbeat = new Heartbeat<UwsSocket>(() => performance.now());

  /** @param actLate runs an upgrade that is decided after its request's handler: `CorkHolder.act` */
  constructor(
    app: TemplatedApp,
    paths: readonly SocketPath[],
    decide: DecideUpgrade,
    actLate?: (what: () => void) => void,
  ) {
    this.#app = app;
    this.#actLate = actLate;
    this.#heartbeat.start();
    for (const path of paths) this.#serve(path, decide);
  }

  /** How many are open. */
  get size(): number {
    return this.#heartbeat.size;
  }

  /**
   * Sends a text frame to every member of a topic. One whose socket still holds bytes leaves the topic instead: the frame
   * would only wait behind older ones. One look a member and frame costs a fiftieth of a write.
   * @param sequence the price sequence of the frame
   */
  publish(topic: number, frame: Uint8Array, sequence: number): void {
    const entry = this.#topics.get(topic);
    if (entry === undefined) return;
    const { members } = entry.sockets;
    for (let i = members.length - 1; i >= 0; i--) {
      const socket = members[i]!;
      if (socket.ws!.getBufferedAmount() === 0) continue;
      const toldOf = sequenceOf(entry, socket);
      socket.leave(topic);
      socket.events.lagged(toldOf);
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
          (open) => ({ socket: new UwsSocket(path, this.#topics), open }),
          this.#actLate,
        ),
      open: (ws) => {
        const data = ws.getUserData();
        const { socket, open } = data;
        data.open = undefined;
        this.#heartbeat.add(socket);
        socket.opened(ws, open!);
      },
      message: (ws, message, isBinary) => {
        const { socket } = ws.getUserData();
        const { events } = socket;
        this.#heartbeat.hear(socket);
        if (isBinary) ws.end(1003, 'binary messages are not accepted');
        else if (message.byteLength > path.messageBytesMax) events.oversize(message.byteLength);
        else events.text(Buffer.from(message).toString());
      },
      ping: (ws) => this.#heartbeat.hear(ws.getUserData().socket),
      pong: (ws) => this.#heartbeat.hear(ws.getUserData().socket),
      drain: (ws) => ws.getUserData().socket.events.drained(ws.getBufferedAmount()),
      close: (ws) => {
        const { socket } = ws.getUserData();
        this.#heartbeat.delete(socket);
        socket.closed();
      },
    });
  }
}

function upgrade(
  res: HttpResponse,
  req: HttpRequest,
  context: us_socket_context_t,
  decide: (request: RestRequest, answer: (decision: UpgradeDecision) => void) => void,
  dataOf: (open: OpenSocket) => Data,
  actLate: ((what: () => void) => void) | undefined,
): void {
  const request = readRequest(res, req, upgradeFaultOf(req));
  const key = req.getHeader('sec-websocket-key');
  const protocol = req.getHeader('sec-websocket-protocol');
  const extensions = req.getHeader('sec-websocket-extensions');
  let pending = true;
  let isHandling = true;
  decide(request, (decision) => {
    if (!pending) return;
    pending = false;
    if (typeof decision !== 'function') {
      if (isHandling) writeResponse(res, request.method, decision);
      else res.cork(() => writeResponse(res, request.method, decision));
      return;
    }
    const open = () => res.upgrade(dataOf(decision), key, protocol, extensions, context);
    if (isHandling) {
      open();
      return;
    }
    assert(actLate, 'decisions come at once where there is nothing to act late with');
    // Under the other cork this one only calls back.
    actLate(() => res.cork(open));
  });
  isHandling = false;
  if (!pending) return;
  res.onAborted(() => {
    pending = false;
  });
}

/** All that is kept of a connection here: one object, for there may be tens of thousands. */
class UwsSocket implements Socket, Heart, Member {
  ws: WebSocket<Data> | undefined;
  events!: SocketEvents;
  owner: SocketOwner | undefined;
  ownerPlace = 0;
  heartPlace = 0;
  heardAtS = 0;
  isPinged = false;
  topicPlace = 0;
  joinedAtSequence = 0;
  #topic: number | undefined;

  constructor(
    readonly path: SocketPath,
    readonly topics: Topics<UwsSocket>,
  ) {}

  opened(ws: WebSocket<Data>, open: OpenSocket): void {
    this.ws = ws;
    this.events = open(this);
  }

  send(frame: Uint8Array | string): void {
    if (this.ws?.send(frame, false) === SEND_DROPPED) this.events.dropped();
  }

  join(topic: number, sequence: number): void {
    if (this.ws === undefined) return;
    assert(this.#topic === undefined, 'a socket is in one topic at a time');
    this.#topic = topic;
    this.topics.join(topic, this, sequence);
    this.ws.subscribe(String(topic));
  }

  leave(topic: number): void {
    if (this.ws === undefined || this.#topic !== topic) return;
    this.#topic = undefined;
    this.topics.leave(topic, this);
    this.ws.unsubscribe(String(topic));
  }

  ping(): void {
    this.ws?.ping();
  }

  close(code: number, reason: string): void {
    this.ws?.end(code, reason);
  }

  /** uWebSockets.js has closed it, and taken it out of its topics. */
  closed(): void {
    this.ws = undefined;
    if (this.#topic !== undefined) this.topics.leave(this.#topic, this);
    this.owner?.closed(this);
    this.events.closed();
  }
}

/** What `send` of uWebSockets.js returns when the message did not fit below `maxBackpressure`. */
const SEND_DROPPED = 2;
