import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t, WebSocket } from 'uWebSockets.js';
import { strict as assert } from 'node:assert';
import { CLOSES } from '../../wire/close_codes.js';
import { STREAM_PROTOCOL } from '../../wire/stream_ticket.js';
import type {
  Connection,
  ConnectionEvents,
  ConnectionOwner,
  ConnectionPath,
  DecideUpgrade,
  OpenEndpoint,
  UpgradeDecision,
} from '../connections/connection.js';
import type { RestRequest } from '../http/rest_exchange.js';
import { answerInTurn, upgradeFaultOf, writeResponse } from './http.js';
import { type IdleTimed, IdleTimeouts } from './idle_timeouts.js';
import { readRequest } from './received_request.js';
import { lookAtAll, lookInTurn, sequenceOf, type TopicMember, TopicMembership } from './topic_membership.js';
import type { TurnBudget } from './turn_budget.js';

interface Data {
  readonly socket: UwsSocket;
  /** The function that opens the endpoint; `undefined` after the socket is open. */
  open: OpenEndpoint | undefined;
}

/** The WebSockets of a uWebSockets.js app, which belongs to a single thread. */
export class WebSockets {
  readonly #app: TemplatedApp;
  readonly #turns: TurnBudget;
  readonly #topics = new TopicMembership<UwsSocket>();
  readonly #idleTimeouts = new IdleTimeouts<UwsSocket>(() => performance.now());

  constructor(app: TemplatedApp, turns: TurnBudget, paths: readonly ConnectionPath[], decide: DecideUpgrade) {
    this.#app = app;
    this.#turns = turns;
    this.#idleTimeouts.start();
    for (const path of paths) this.#serve(path, decide);
  }

  /** The number of open sockets. */
  get size(): number {
    return this.#idleTimeouts.size;
  }

  /** Stops the checks when all sockets are being closed. */
  stop(): void {
    this.#idleTimeouts.stop();
  }

  /**
   * Sends a text frame to all members of a topic. A member whose socket holds unsent bytes leaves the topic instead
   * (back-pressure), because the frame would only wait behind older frames.
   * @param sequence the price sequence of the frame
   */
  publish(topic: number, frame: Uint8Array, sequence: number): void {
    const entry = this.#topics.get(topic);
    if (entry === undefined) return;
    const takesFrames = (socket: UwsSocket) => {
      if (socket.ws!.getBufferedAmount() === 0) return true;
      const toldOf = sequenceOf(entry, socket);
      socket.leave(topic);
      socket.events.lagged(toldOf);
      return false;
    };
    if (entry.sockets.size <= SENT_SINGLY_MAX) {
      lookAtAll(entry, (socket) => {
        if (takesFrames(socket)) socket.ws!.send(frame, false);
      });
    } else {
      lookInTurn(entry, frame.length, performance.now(), takesFrames);
      this.#app.publish(String(topic), frame, false);
    }
    entry.sequence = sequence;
  }

  #serve(path: ConnectionPath, decide: DecideUpgrade): void {
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
          this.#turns,
          (request) => decide(path, request),
          (open) => ({ socket: new UwsSocket(path, this.#topics), open }),
        ),
      open: (ws) => {
        const data = ws.getUserData();
        const { socket, open } = data;
        data.open = undefined;
        this.#idleTimeouts.add(socket);
        socket.opened(ws, open!);
      },
      message: (ws, message, isBinary) => {
        const { socket } = ws.getUserData();
        const { events } = socket;
        this.#idleTimeouts.received(socket);
        if (isBinary) ws.end(CLOSES.binaryMessage.code, CLOSES.binaryMessage.reason);
        else if (message.byteLength > path.messageBytesMax) events.oversize(message.byteLength);
        else events.text(Buffer.from(message).toString());
      },
      ping: (ws) => this.#idleTimeouts.received(ws.getUserData().socket),
      pong: (ws) => this.#idleTimeouts.received(ws.getUserData().socket),
      drain: (ws) => ws.getUserData().socket.events.drained(ws.getBufferedAmount()),
      close: (ws) => {
        const { socket } = ws.getUserData();
        this.#idleTimeouts.delete(socket);
        socket.closed();
      },
    });
  }
}

function upgrade(
  res: HttpResponse,
  req: HttpRequest,
  context: us_socket_context_t,
  turns: TurnBudget,
  decide: (request: RestRequest) => UpgradeDecision,
  dataOf: (open: OpenEndpoint) => Data,
): void {
  const key = req.getHeader('sec-websocket-key');
  const extensions = req.getHeader('sec-websocket-extensions');
  answerInTurn(res, readRequest(res, req, upgradeFaultOf(req)), turns, (request) => {
    const decision = decide(request);
    if (typeof decision !== 'function') {
      writeResponse(res, request.method, decision);
      return;
    }
    // The protocol is chosen here, because otherwise uWebSockets.js selects the first protocol that the client offers, and so
    // sends a ticket back.
    const protocol = request.protocols?.includes(STREAM_PROTOCOL) ? STREAM_PROTOCOL : '';
    res.upgrade(dataOf(decision), key, protocol, extensions, context);
  });
}

/**
 * All data of a connection. The data are in a single object to save memory, because there may be tens of thousands of
 * connections.
 */
class UwsSocket implements Connection, IdleTimed, TopicMember {
  ws: WebSocket<Data> | undefined;
  events!: ConnectionEvents;
  owner: ConnectionOwner | undefined;
  ownerPlace = 0;
  idlePlace = 0;
  seenAtS = 0;
  checksSincePing = 0;
  topicPlace = 0;
  joinedAtSequence = 0;
  #topic: number | undefined;

  constructor(
    readonly path: ConnectionPath,
    readonly topics: TopicMembership<UwsSocket>,
  ) {}

  opened(ws: WebSocket<Data>, open: OpenEndpoint): void {
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

  silent(): void {
    this.events.silent();
  }

  heard(): void {
    this.events.heard();
  }

  close(code: number, reason: string): void {
    this.ws?.end(code, reason);
  }

  /** Called after uWebSockets.js closed the socket and removed it from its topics. */
  closed(): void {
    this.ws = undefined;
    if (this.#topic !== undefined) this.topics.leave(this.#topic, this);
    this.owner?.closed(this);
    this.events.closed();
  }
}

/**
 * The number of members up to which a frame is sent by a call for each member. For few members `publish` of uWebSockets.js is
 * slower, because it searches the topic, copies the frame, and writes the frame only at the end of the turn of the event loop.
 */
const SENT_SINGLY_MAX = 32;

/** The value that `send` of uWebSockets.js returns when the message did not fit below `maxBackpressure`. */
const SEND_DROPPED = 2;
