import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { Roster } from '../../model/roster.js';
import type { FrameSender } from '../../stream/fan_out.js';
import { streamEvent } from '../../stream/stream_event.js';
import { EVENTS_PATH } from '../../wire/paths.js';
import type { Connection, ConnectionEvents, ConnectionOwner } from '../connections/connection.js';
import type { EventsDecision } from '../connections/event_decision.js';
import { headText } from '../http/response_head.js';
import type { RestRequest, RestResponse } from '../http/rest_exchange.js';
import { type AnswerRest, answerInTurn, methodFaultOf, writeResponse } from './http.js';
import { utf8 } from './native.js';
import { readRequest } from './received_request.js';
import { lookAtAll, sequenceOf, type TopicMember, TopicMembership } from './topic_membership.js';
import type { TurnBudget } from './turn_budget.js';

interface EventsHost {
  /** Answers requests with methods other than GET, and reads what a client has missed. */
  readonly rest: AnswerRest;
  decideEvents(request: RestRequest): EventsDecision;
}

/** The number of bytes that may wait for a reader before the service drops further messages. */
const WAITING_BYTES_MAX = 1024 * 1024;
const BEAT_INTERVAL_MS = 10_000;
const BEAT_CHECK_MS = 1_000;
/** A comment, which clients ignore. The comment keeps connections open that proxies would end. */
const COMMENT = utf8(':\n\n');

/** The streams of server-sent events of a listener. The streams share groups and frames with the WebSockets of `/ws`. */
export class EventStreams implements FrameSender {
  readonly #topics = new TopicMembership<EventSocket>();
  readonly #sockets = new Roster<'place', EventSocket>('place');
  readonly #beats: NodeJS.Timeout;

  constructor(app: TemplatedApp, turns: TurnBudget, host: EventsHost) {
    app.any(EVENTS_PATH, (res, req) => {
      answerInTurn(res, readRequest(res, req), turns, (request) => this.#answer(res, request, host));
    });
    this.#beats = setInterval(() => this.#beat(), BEAT_CHECK_MS).unref();
  }

  /** The number of open streams. */
  get size(): number {
    return this.#sockets.size;
  }

  /** Stops the comments when the listener closes all streams. */
  stop(): void {
    clearInterval(this.#beats);
  }

  /** Sends a frame to all members of a topic. A member that still has waiting bytes leaves the topic instead. */
  publish(topic: number, frame: Uint8Array, sequence: number): void {
    const entry = this.#topics.get(topic);
    if (entry === undefined) return;
    // All members share these bytes. A text would be encoded again for each member.
    const event = utf8(streamEvent(frame));
    lookAtAll(entry, (socket) => {
      if (socket.waitingBytes === 0 || socket.held !== undefined) {
        socket.write(event);
        return;
      }
      const toldOf = sequenceOf(entry, socket);
      socket.leave(topic);
      socket.events.lagged(toldOf);
    });
    entry.sequence = sequence;
  }

  #answer(res: HttpResponse, request: RestRequest, host: EventsHost): void {
    const { method } = request;
    if (method !== 'GET') {
      writeResponse(res, method, methodFaultOf(method) ?? host.rest(request));
      return;
    }
    const { response, open } = host.decideEvents(request);
    if (open === undefined) {
      writeResponse(res, method, response);
      return;
    }
    const socket = new EventSocket(res, this.#topics, () => this.#sockets.delete(socket));
    this.#sockets.add(socket);
    let missed: RestResponse | undefined;
    res.onAborted(() => {
      socket.closed();
      missed?.abandon?.();
    });
    res.onWritable(() => socket.writable());
    const { lastEventId } = request;
    if (lastEventId !== undefined) {
      socket.held = [];
      socket.events = open(socket);
      if (!socket.isOpen) return;
      const body = `${socket.events.set?.assets.join()}\n${lastEventId}`;
      missed = host.rest({ ...request, address: request.address, body });
      if (missed.later !== undefined) {
        void this.#sendMissed(socket, response, missed);
        return;
      }
      socket.closed();
      writeResponse(res, method, missed);
      return;
    }
    res.writeStatus(headText(response, response.contentType));
    // The head is sent immediately, because the first frame may come much later.
    socket.write(COMMENT);
    socket.events = open(socket);
  }

  /** Sends what a client has missed, and then what the socket has held. Cuts a stream that fails, so that the client continues it. */
  async #sendMissed(socket: EventSocket, head: RestResponse, missed: RestResponse): Promise<void> {
    const answer = await missed.later!;
    if (!socket.isOpen) return;
    // Clients connect again by themselves, and most give up at an error. So a past that is not kept is an event, and the frames follow it.
    const parts = answer.status === 410 ? [utf8(`event: gap\ndata: ${answer.body}\n\n`)] : answer.parts;
    if (parts === undefined) {
      socket.closed();
      writeResponse(socket.res, 'GET', missed);
      return;
    }
    socket.res.cork(() => socket.res.writeStatus(headText(head, head.contentType)).write(COMMENT));
    try {
      for await (const part of parts) if (!(await socket.writeFirst(part))) return;
      const { held } = socket;
      socket.held = undefined;
      for (const event of held!) socket.write(event);
    } catch {
      if (socket.isOpen) socket.res.close();
    }
  }

  #beat(): void {
    const nowMs = performance.now();
    for (const socket of [...this.#sockets]) socket.beat(nowMs);
  }
}

/** A stream of events in the form of a connection that receives prices. */
class EventSocket implements Connection, TopicMember {
  events!: ConnectionEvents;
  owner: ConnectionOwner | undefined;
  ownerPlace = 0;
  addressPlace = 0;
  topicPlace = 0;
  joinedAtSequence = 0;
  /** The place among the open streams. */
  place = 0;
  /** The bytes of the messages since the response began to hold bytes back; 0 while the response accepts all bytes. */
  waitingBytes = 0;
  isOpen = true;
  /** The events that wait behind those of {@link writeFirst}, and the number of their bytes. */
  held: Uint8Array[] | undefined;
  #heldBytes = 0;
  #onSent: (() => void) | undefined;
  #topic: number | undefined;
  #event: Uint8Array = COMMENT;
  /**
   * Writes the event in one piece with its head. The function is stored, because a new function for each event costs more than the
   * call.
   */
  readonly #writeEvent = () => {
    if (!this.res.write(this.#event)) this.waitingBytes += this.#event.length;
  };
  #beatAtMs = performance.now() + BEAT_INTERVAL_MS;

  constructor(
    readonly res: HttpResponse,
    readonly topics: TopicMembership<EventSocket>,
    readonly onClosed: () => void,
  ) {}

  /** Writes an event before those that are held. @returns false if the client has left; true when the client has read the event */
  async writeFirst(event: Uint8Array): Promise<boolean> {
    if (this.isOpen) this.#write(event);
    if (this.isOpen && this.waitingBytes > 0)
      await new Promise<void>((resolve) => {
        this.#onSent = resolve;
      });
    return this.isOpen;
  }

  send(message: Uint8Array | string): void {
    if (!this.isOpen) return;
    const event = utf8(streamEvent(message));
    if (
      this.held === undefined &&
      this.waitingBytes > 0 &&
      this.waitingBytes + event.length > WAITING_BYTES_MAX
    )
      this.events.dropped();
    else this.write(event);
  }

  write(event: Uint8Array): void {
    if (!this.isOpen) return;
    if (this.held === undefined) {
      this.#write(event);
      return;
    }
    this.held.push(event);
    this.#heldBytes += event.length;
    // None of these events may be lost, so the client continues from its last event.
    if (this.#heldBytes > WAITING_BYTES_MAX) this.res.close();
  }

  #write(event: Uint8Array): void {
    this.#event = event;
    this.res.cork(this.#writeEvent);
  }

  /** Handles a response that has sent waiting bytes. */
  writable(): boolean {
    if (!this.isOpen || this.waitingBytes === 0) return true;
    // uWebSockets.js reports an empty buffer only during a write.
    const before = this.waitingBytes;
    this.#write(COMMENT);
    const isEmpty = this.waitingBytes === before;
    if (isEmpty) this.waitingBytes = 0;
    this.events.drained(this.waitingBytes);
    if (isEmpty) this.#onSent?.();
    return isEmpty;
  }

  /** Writes a comment when the interval is over. */
  beat(nowMs: number): void {
    if (nowMs < this.#beatAtMs) return;
    this.#beatAtMs = nowMs + BEAT_INTERVAL_MS;
    if (this.waitingBytes === 0 && this.held === undefined) this.write(COMMENT);
  }

  join(topic: number, sequence: number): void {
    if (!this.isOpen) return;
    this.#topic = topic;
    this.topics.join(topic, this, sequence);
  }

  leave(topic: number): void {
    if (!this.isOpen || this.#topic !== topic) return;
    this.#topic = undefined;
    this.topics.leave(topic, this);
  }

  /** Ends the stream with an event that contains the close code. A client that does not read is disconnected without this event. */
  close(code: number, reason: string): void {
    if (!this.isOpen) return;
    const { res } = this;
    if (this.waitingBytes > 0 || this.held !== undefined) {
      res.close();
      return;
    }
    this.closed();
    const end = `event: end\ndata: ${JSON.stringify({ code, reason })}\n\n`;
    // If the call also asked to close the connection, uWebSockets.js would write a header into the body.
    res.cork(() => res.end(utf8(end)));
  }

  /** Called when the response has ended. */
  closed(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    if (this.#topic !== undefined) this.topics.leave(this.#topic, this);
    this.#onSent?.();
    this.onClosed();
    this.owner?.closed(this);
    this.events?.closed();
  }
}
