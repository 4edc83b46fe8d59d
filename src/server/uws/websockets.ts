import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t } from 'uWebSockets.js';
import { CLOSES } from '../../wire/close_codes.js';
import { STREAM_PROTOCOL } from '../../wire/stream_ticket.js';
import type {
  ConnectionPath,
  DecideUpgrade,
  OpenEndpoint,
  UpgradeDecision,
} from '../connections/connection.js';
import type { RestRequest } from '../http/rest_exchange.js';
import { answerInTurn, upgradeFaultOf, writeResponse } from './http.js';
import { IdleTimeouts } from './idle_timeouts.js';
import { readRequest } from './received_request.js';
import { lookInTurn, sequenceOf, type Topic, TopicMembership } from './topic_membership.js';
import type { TurnBudget } from './turn_budget.js';
import { type SocketData, UwsSocket } from './uws_socket.js';

export interface WebSocketsOptions {
  readonly app: TemplatedApp;
  readonly turns: TurnBudget;
  readonly paths: readonly ConnectionPath[];
  /** `listen.ping_interval` */
  readonly pingIntervalSeconds: number;
  readonly decide: DecideUpgrade;
  /** Called when the connection of a WebSocket has ended. */
  readonly onEnded: () => void;
}

/** The WebSockets of a uWebSockets.js app, which belongs to a single thread. */
export class WebSockets {
  readonly #app: TemplatedApp;
  readonly #turns: TurnBudget;
  readonly #onEnded: () => void;
  readonly #topics = new TopicMembership<UwsSocket>();
  readonly #idleTimeouts: IdleTimeouts<UwsSocket>;
  /** Opens the endpoint of the socket that uWebSockets.js is opening. */
  #open: OpenEndpoint | undefined;

  constructor({ app, turns, paths, pingIntervalSeconds, decide, onEnded }: WebSocketsOptions) {
    this.#app = app;
    this.#turns = turns;
    this.#onEnded = onEnded;
    this.#idleTimeouts = new IdleTimeouts(() => performance.now(), pingIntervalSeconds);
    this.#idleTimeouts.start();
    for (const path of paths) this.#servePath(path, decide);
  }

  /** The number of open sockets. */
  get size(): number {
    return this.#idleTimeouts.size;
  }

  /** Stops the checks when the app closes all sockets. */
  stop(): void {
    this.#idleTimeouts.stop();
  }

  /**
   * Sends a frame to all members of a topic. A member whose socket holds unsent bytes leaves the topic instead
   * (back-pressure), because the frame would only wait behind older frames.
   * @param sequence the price sequence of the frame
   */
  publish(topic: number, frame: Uint8Array, sequence: number, isBinary: boolean): void {
    const entry = this.#topics.get(topic);
    if (entry === undefined) return;
    const { sockets } = entry;
    if (sockets.size <= SENT_SINGLY_MAX) {
      // A member may leave during its check.
      for (let place = sockets.size - 1; place >= 0; place--) {
        const socket = sockets.at(place);
        if (takesFrames(socket, topic, entry)) socket.ws!.send(frame, isBinary);
      }
    } else {
      lookInTurn(entry, frame.length, performance.now(), (socket) => takesFrames(socket, topic, entry));
      this.#app.publish(String(topic), frame, isBinary);
    }
    entry.sequence = sequence;
  }

  #pinged(socket: UwsSocket): void {
    this.#idleTimeouts.received(socket);
    socket.events.pinged();
  }

  #servePath(path: ConnectionPath, decide: DecideUpgrade): void {
    const shared = { path, topics: this.#topics };
    this.#app.ws<SocketData>(path.path, {
      idleTimeout: deadAfterS(path.idleTimeoutSeconds),
      maxPayloadLength: path.parserBytesMax,
      maxBackpressure: path.bufferedBytesMax,
      // The idle timeouts send the pings.
      sendPingsAutomatically: false,
      upgrade: (res, req, context) =>
        answerUpgrade(
          res,
          req,
          context,
          this.#turns,
          (request) => decide(path, request),
          (open) => {
            this.#open = open;
            return { socket: new UwsSocket(shared), turn: 0, messagesInTurn: 0 };
          },
        ),
      open: (ws) => {
        const { socket } = ws.getUserData();
        socket.opened(ws, this.#open!);
        this.#idleTimeouts.add(socket);
      },
      message: (ws, message, isBinary) => {
        const data = ws.getUserData();
        const { socket } = data;
        const { events } = socket;
        this.#idleTimeouts.received(socket);
        if (!this.#turns.countMessage(data)) ws.end(CLOSES.tooMuchAtOnce.code, CLOSES.tooMuchAtOnce.reason);
        else if (isBinary) ws.end(CLOSES.binaryMessage.code, CLOSES.binaryMessage.reason);
        else if (message.byteLength > path.messageBytesMax) events.oversize(message.byteLength);
        else events.text(Buffer.from(message).toString());
      },
      ping: (ws) => this.#pinged(ws.getUserData().socket),
      pong: (ws) => {
        const { socket } = ws.getUserData();
        if (socket.pingsUnanswered === 0) this.#pinged(socket);
        else {
          socket.pingsUnanswered -= 1;
          this.#idleTimeouts.received(socket);
        }
      },
      drain: (ws) => ws.getUserData().socket.events.drained(ws.getBufferedAmount()),
      close: (ws) => {
        const { socket } = ws.getUserData();
        this.#idleTimeouts.delete(socket);
        this.#onEnded();
        socket.closed();
      },
    });
  }
}

/** Returns whether a member's socket holds no unsent bytes. Otherwise the member leaves the topic. */
function takesFrames(socket: UwsSocket, topic: number, entry: Topic<UwsSocket>): boolean {
  if (socket.ws!.getBufferedAmount() === 0) return true;
  const toldOf = sequenceOf(entry, socket);
  socket.leave(topic);
  socket.events.lagged(toldOf);
  return false;
}

/** The longest timeout of uWebSockets.js. */
const UWS_TIMEOUT_S_MAX = 960;
/**
 * The time after an idle timeout in which the service sends the close frame. The timeouts of uWebSockets.js come up to 4 s early.
 */
const CLOSING_S = 12;

/**
 * Returns the timeout after which uWebSockets.js ends a connection without a close frame. This timeout is later than the timeout
 * of {@link IdleTimeouts}, and applies to a peer that is gone.
 */
function deadAfterS(idleTimeoutSeconds: number): number {
  return Math.min(idleTimeoutSeconds + CLOSING_S, UWS_TIMEOUT_S_MAX);
}

function answerUpgrade(
  res: HttpResponse,
  req: HttpRequest,
  context: us_socket_context_t,
  turns: TurnBudget,
  decide: (request: RestRequest) => UpgradeDecision,
  dataOf: (open: OpenEndpoint) => SocketData,
): void {
  const key = req.getHeader('sec-websocket-key');
  const extensions = req.getHeader('sec-websocket-extensions');
  answerInTurn(res, readRequest(res, req, upgradeFaultOf(req)), turns, (request) => {
    const decision = decide(request);
    if (typeof decision !== 'function') {
      writeResponse(res, request.method, decision);
      return;
    }
    // The function chooses the protocol here. Otherwise uWebSockets.js selects the first protocol that the client offers, and so
    // sends a ticket back.
    const protocol = request.protocols?.includes(STREAM_PROTOCOL) ? STREAM_PROTOCOL : '';
    res.upgrade(dataOf(decision), key, protocol, extensions, context);
  });
}

/**
 * The largest number of members for which the app makes a call per member to send a frame. For few members, `publish` of uWebSockets.js is
 * slower: it searches the topic, copies the frame, and writes the frame only at the end of the turn of the event loop.
 */
const SENT_SINGLY_MAX = 32;
