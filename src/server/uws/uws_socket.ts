import type { WebSocket } from 'uWebSockets.js';
import { strict as assert } from 'node:assert';
import type {
  Connection,
  ConnectionEvents,
  ConnectionOwner,
  ConnectionPath,
  OpenEndpoint,
} from '../connections/connection.js';
import type { IdleTimed } from './idle_timeouts.js';
import { utf8 } from './native.js';
import type { TopicMember, TopicMembership } from './topic_membership.js';
import type { TurnSender } from './turn_budget.js';

/**
 * The data that uWebSockets.js keeps for a socket. V8 reserves memory for three properties. So the counts of the turn are here, where they
 * take no additional memory.
 */
export interface SocketData extends TurnSender {
  readonly socket: UwsSocket;
}

/** The data that all sockets of a path share. */
export interface SharedData {
  readonly path: ConnectionPath;
  readonly topics: TopicMembership<UwsSocket>;
}

/**
 * All other data of a connection. A single object contains them to save memory, because a process may have tens of thousands of
 * connections. Data that few connections need are elsewhere.
 */
export class UwsSocket implements Connection, IdleTimed, TopicMember {
  ws: WebSocket<SocketData> | undefined;
  events!: ConnectionEvents;
  owner: ConnectionOwner | undefined;
  ownerPlace = 0;
  addressPlace = 0;
  idlePlace = 0;
  seenAtS = 0;
  isPinged = false;
  /** The number of pings without a pong. */
  pingsUnanswered = 0;
  topicPlace = 0;
  joinedAtSequence = 0;
  #topic: number | undefined;

  readonly #shared: SharedData;

  constructor(shared: SharedData) {
    this.#shared = shared;
  }

  get path(): ConnectionPath {
    return this.#shared.path;
  }

  opened(ws: WebSocket<SocketData>, open: OpenEndpoint): void {
    this.ws = ws;
    this.events = open(this);
  }

  send(frame: Uint8Array | string, isBinary = false): void {
    if (this.ws?.send(utf8(frame), isBinary) === SEND_DROPPED) this.events.dropped();
  }

  join(topic: number, sequence: number): void {
    if (this.ws === undefined) return;
    assert(this.#topic === undefined, 'a socket is in one topic at a time');
    this.#topic = topic;
    this.#shared.topics.join(topic, this, sequence);
    this.ws.subscribe(String(topic));
  }

  leave(topic: number): void {
    if (this.ws === undefined || this.#topic !== topic) return;
    this.#topic = undefined;
    this.#shared.topics.leave(topic, this);
    this.ws.unsubscribe(String(topic));
  }

  ping(): void {
    this.pingsUnanswered += 1;
    this.ws?.ping();
  }

  close(code: number, reason: string): void {
    this.ws?.end(code, reason);
  }

  /** Called after uWebSockets.js closed the socket and removed it from its topics. */
  closed(): void {
    this.ws = undefined;
    if (this.#topic !== undefined) this.#shared.topics.leave(this.#topic, this);
    this.owner?.closed(this);
    this.events.closed();
  }
}

/** The value that `send` of uWebSockets.js returns when the message would exceed `maxBackpressure`. */
const SEND_DROPPED = 2;
