import { CLOSED_CONTROL_COST, countControl } from '../model/control_count.js';
import { type Clock, secondOf, type TimeNs } from '../model/time.js';
import { CLOSES } from '../wire/close_codes.js';
import { BAD_MESSAGES_MAX } from '../wire/stream.js';
import type { ReaderGroup } from './reader_group.js';
import type { ReaderSession, ReaderStreams } from './reader_session.js';
import { type SlowReaderCounters, SlowReaders } from './slow_readers.js';

export interface SubscriptionsOptions {
  readonly clock: Clock;
  readonly limits: StreamLimits;
  readonly counters: SlowReaderCounters;
}

export interface StreamLimits {
  readonly clientMessageBytes: number;
  readonly subscriptionsPerConnection: number;
  readonly traceIdCharacters: number;
  readonly controlMessagesPerSecond: number;
  readonly subscriptionChangesPerSecond: number;
  readonly slowConsumerNs: bigint;
}

/** The fault of a client's invalid request. */
interface RequestFault {
  readonly error: string;
}

/** The functions that read and write the texts of a protocol. */
interface ClientProtocol<Request, Fault> {
  readonly read: (text: string) => Request | Fault;
  /**
   * Returns the text of an error. @param about the message that the error answers, with its ID; `undefined` when the ID could not be read
   */
  readonly errorText: (error: string, about: Request | Fault | undefined) => string;
}

/** The groups that have connections. */
interface KnownGroups<Group> {
  readonly size: number;
  remove(group: Group): void;
}

/** The longest message that is read after a client has reached its limit of messages. */
const FLOOD_LENGTH_MAX = 1_024;

/**
 * The number of control messages per second, beyond the limit, that are answered with an error. A further message closes the connection.
 */
const REFUSED_CONTROL_MAX = 10;

/**
 * The connections of a streaming protocol. This class limits requests, and takes connections out of topics and groups when they lag or
 * leave. The protocol itself reads and executes requests, and makes frames.
 */
export abstract class Subscriptions<
  Session extends ReaderSession<Group>,
  Group extends ReaderGroup<Session>,
  Request extends object,
  Fault extends RequestFault,
> implements ReaderStreams<Session>
{
  protected readonly slowReaders: SlowReaders<Session>;
  readonly #clock: Clock;
  readonly #limits: StreamLimits;
  readonly #groups: KnownGroups<Group>;
  readonly #protocol: ClientProtocol<Request, Fault>;
  /** The number of invalid messages of the connections that have sent any. */
  readonly #badMessages = new Map<Session, number>();

  constructor(
    { clock, limits, counters }: SubscriptionsOptions,
    groups: KnownGroups<Group>,
    protocol: ClientProtocol<Request, Fault>,
  ) {
    this.slowReaders = new SlowReaders(limits.slowConsumerNs, counters);
    this.#clock = clock;
    this.#limits = limits;
    this.#groups = groups;
    this.#protocol = protocol;
  }

  get groupCount(): number {
    return this.#groups.size;
  }

  /** Removes a session whose socket is closed. Nothing is sent to it afterwards. */
  closed(session: Session): void {
    this.slowReaders.delete(session);
    this.#badMessages.delete(session);
    // A closed socket has already left its topics.
    session.group?.members.delete(session);
    this.leaveGroup(session);
  }

  /**
   * Handles a socket that did not receive a frame because it still held bytes; the frame would only have waited behind older frames. The
   * connection receives nothing more until its socket has sent all bytes. It then receives the newest values.
   * @param sequence the price sequence up to which the connection has received all changes
   */
  lagged(session: Session, sequence: number): void {
    const { group } = session;
    if (group?.members.has(session)) {
      this.leaveTopic(group, session);
      group.waiting.add(session);
    }
    if (sequence < session.sequence) session.sequence = sequence;
    this.slowReaders.add(session, this.#clock.nowNs());
  }

  /** Notes that the socket has sent some of its waiting bytes. @param bufferedBytes the number of bytes that still wait */
  drained(session: Session, bufferedBytes: number): void {
    const nowNs = this.#clock.nowNs();
    if (this.slowReaders.drained(session, bufferedBytes, nowNs)) this.resume(session, nowNs);
  }

  /** Handles a text message from the client. */
  receive(session: Session, text: string): void {
    const nowNs = this.#clock.nowNs();
    const isAllowed = this.#takeControl(session, nowNs);
    if (session.controlMessagesLeft < -REFUSED_CONTROL_MAX) {
      this.#closeFlood(session, nowNs);
      return;
    }
    // Above the limit, only a message of ordinary length is parsed, so that the error can repeat its ID.
    const request = isAllowed || text.length <= FLOOD_LENGTH_MAX ? this.#protocol.read(text) : undefined;
    if (!isAllowed || request === undefined) {
      const { controlMessagesPerSecond } = this.#limits;
      const error = `more than control_messages_per_second (${controlMessagesPerSecond}) messages in a second`;
      this.replyError(session, error, request);
    } else if (isFault(request)) this.#refuseBadMessage(session, request.error, request);
    else this.carryOut(session, request, nowNs);
  }

  /** Counts a ping, or a pong that does not answer a ping of the service, as a control message. */
  pinged(session: Session): void {
    const nowNs = this.#clock.nowNs();
    if (!this.#takeControl(session, nowNs)) this.#closeFlood(session, nowNs);
  }

  /** Handles a text message longer than `client_message_bytes`. */
  refuseOversize(session: Session, messageBytes: number): void {
    const error = `the message has ${messageBytes} bytes, client_message_bytes is ${this.#limits.clientMessageBytes}: send several messages`;
    this.#refuseBadMessage(session, error, undefined);
  }

  protected abstract carryOut(session: Session, request: Request, nowNs: TimeNs): void;

  /** Sends a waiting connection the changes that it lacks. The connection joins the topic now or with the group's next frame. */
  protected abstract enter(group: Group, session: Session): void;

  /** Handles a connection that takes frames again. */
  protected resume(session: Session, _nowNs: TimeNs): void {
    if (session.group) this.enter(session.group, session);
  }

  /** Answers a request that cannot be executed. */
  protected replyError(session: Session, error: string, about: Request | Fault | undefined): void {
    session.connection.send(this.#protocol.errorText(error, about));
  }

  /**
   * Returns whether the caller may change this number of assets now. If not, refuses the request. @param assets the number of assets in the
   * request
   */
  protected mayChange(session: Session, request: Request, assets: number, nowNs: TimeNs): boolean {
    const { subscriptionChanges } = session.budgets;
    if (subscriptionChanges.take(assets, nowNs)) return true;
    subscriptionChanges.countRefusal();
    const { subscriptionChangesPerSecond } = this.#limits;
    const error = `more than subscription_changes_per_second (${subscriptionChangesPerSecond}) assets in the token's requests of a second`;
    this.replyError(session, error, request);
    return false;
  }

  /**
   * Returns whether the connection may have this number of assets. If not, refuses the request. @param assets the number of assets after
   * the request
   */
  protected mayHave(session: Session, request: Request, assets: number): boolean {
    const { subscriptionsPerConnection } = this.#limits;
    if (assets <= subscriptionsPerConnection) return true;
    const error = `${assets} subscriptions, subscriptions_per_connection is ${subscriptionsPerConnection}`;
    this.replyError(session, error, request);
    return false;
  }

  /** Adds a session to a group. @param session must be in no group */
  protected enterGroup(group: Group, session: Session): void {
    session.group = group;
    group.waiting.add(session);
    if (session.stalledSinceNs === undefined) this.enter(group, session);
  }

  protected leaveGroup(session: Session): void {
    const { group } = session;
    if (group === undefined) return;
    if (group.members.has(session)) this.leaveTopic(group, session);
    group.waiting.delete(session);
    session.group = undefined;
    if (group.isEmpty) this.#groups.remove(group);
  }

  /** Takes a member out of the topic. The member has received all frames of the group. */
  protected leaveTopic(group: Group, session: Session): void {
    group.members.delete(session);
    session.connection.leave(group.topic);
    session.sequence = group.sequence;
  }

  /** Answers an invalid message, and closes a connection that sends too many invalid messages. */
  #refuseBadMessage(session: Session, error: string, about: Fault | undefined): void {
    this.replyError(session, error, about);
    const messages = (this.#badMessages.get(session) ?? 0) + 1;
    this.#badMessages.set(session, messages);
    const { code, reason } = CLOSES.badMessages;
    if (messages === BAD_MESSAGES_MAX) session.connection.close(code, reason);
  }

  /** Counts a message, ping or pong of a client. @returns true if the connection and its token are within the limit */
  #takeControl(session: Session, nowNs: TimeNs): boolean {
    const left = countControl(session, this.#limits.controlMessagesPerSecond, Number(secondOf(nowNs)));
    return left >= 0 && session.budgets.controlMessages.take(1, nowNs);
  }

  #closeFlood(session: Session, nowNs: TimeNs): void {
    const { controlMessages } = session.budgets;
    controlMessages.owe(CLOSED_CONTROL_COST * this.#limits.controlMessagesPerSecond, nowNs);
    controlMessages.countRefusal();
    session.connection.close(CLOSES.controlFlood.code, CLOSES.controlFlood.reason);
  }
}

function isFault<Request extends object, Fault extends RequestFault>(read: Request | Fault): read is Fault {
  return 'error' in read;
}
