import type { AssetIndex } from '../model/asset.js';
import type { Budget } from '../model/budget.js';
import type { ControlCount } from '../model/control_count.js';

/** The sequence of a connection that has received nothing. All its prices are due. */
export const NOTHING_SENT = -1;

/** A connection as the engine needs it. The bytes of a frame are valid only during the call. */
export interface StreamConnection {
  /** Sends a message. @param isBinary true for a binary message; absent for text */
  send(frame: Uint8Array | string, isBinary?: boolean): void;
  /**
   * Adds the connection to a topic. It receives the topic's frames until it leaves, or until it is reported to {@link
   * ReaderStreams.lagged}.
   * @param sequence the price sequence up to which the connection has received all changes
   */
  join(topic: number, sequence: number): void;
  leave(topic: number): void;
  close(code: number, reason: string): void;
}

/** The rights of a connection, from its token. */
export interface StreamRights {
  maySee(symbol: string): boolean;
}

/** The limits on a caller's work per second, over all its connections. */
export interface ReaderBudgets {
  /** The budget for signed frames, in the unit of `signedFrameCost`. */
  readonly signedFrames: Budget;
  /** The budget for assets in `subscribe` and `unsubscribe` messages. */
  readonly subscriptionChanges: Budget;
  /** The budget for control messages, pings and pongs. */
  readonly controlMessages: Budget;
}

/** The streams of a session, to which the session reports the events of its socket. */
export interface ReaderStreams<Session> {
  /** Handles a text message from the client. */
  receive(session: Session, text: string): void;
  /** Handles a ping, or a pong that does not answer a ping of the service. */
  pinged(session: Session): void;
  /** Handles a text message longer than `client_message_bytes`. */
  refuseOversize(session: Session, messageBytes: number): void;
  /** Notes that the socket skipped a frame. @param sequence the price sequence up to which the connection has received all changes */
  lagged(session: Session, sequence: number): void;
  /** Notes that the socket has sent some of its waiting bytes. @param bufferedBytes the number of bytes that still wait */
  drained(session: Session, bufferedBytes: number): void;
  /** Notes that the socket is closed. */
  closed(session: Session): void;
}

/** The data that all connections of a caller with the same options share. */
export interface ReaderTerms<Session> {
  readonly streams: ReaderStreams<Session>;
  readonly rights: StreamRights;
  readonly budgets: ReaderBudgets;
}

/** The data that only a connection outside its topic needs. Most connections are in their topic. */
class OutsideTopic {
  fresh: Set<AssetIndex> | undefined;
  stalledSinceNs: bigint | undefined;
  lastFrameNs = 0n;
}

/**
 * A connection that receives prices in any form, with the handlers of its socket's events. One object has both to save memory, because a
 * process may have tens of thousands of connections, most of them idle.
 */
export abstract class ReaderSession<Group> implements ControlCount {
  group: Group | undefined;
  /** The session's index in the roster of group members. */
  memberPlace = 0;
  /** The sequence up to which the connection has received all changes. */
  sequence = 0;
  controlMessagesLeft = 0;
  controlSecond = 0;
  #outside: OutsideTopic | undefined;
  abstract readonly terms: ReaderTerms<this>;

  constructor(readonly connection: StreamConnection) {}

  /** Returns the data outside a topic. The method is static, because V8 takes memory in each object whose class has private methods. */
  static #outsideOf(session: ReaderSession<unknown>): OutsideTopic {
    session.#outside ??= new OutsideTopic();
    return session.#outside;
  }

  get rights(): StreamRights {
    return this.terms.rights;
  }

  get budgets(): ReaderBudgets {
    return this.terms.budgets;
  }

  /** The newly subscribed assets, which the next frame contains even if their prices are unchanged; `undefined` instead of an empty set. */
  get fresh(): Set<AssetIndex> | undefined {
    return this.#outside?.fresh;
  }

  set fresh(assets: Set<AssetIndex> | undefined) {
    if (assets !== this.fresh) ReaderSession.#outsideOf(this).fresh = assets;
  }

  /** The last time at which the socket sent bytes, or at which it was found to send none; `undefined` while the socket makes progress. */
  get stalledSinceNs(): bigint | undefined {
    return this.#outside?.stalledSinceNs;
  }

  set stalledSinceNs(timeNs: bigint | undefined) {
    if (timeNs !== this.stalledSinceNs) ReaderSession.#outsideOf(this).stalledSinceNs = timeNs;
  }

  /**
   * The time at which the last separate frame of this connection counts as sent; see `frameTime`. For members of a topic, the group's time
   * counts.
   */
  get lastFrameNs(): bigint {
    return this.#outside?.lastFrameNs ?? 0n;
  }

  set lastFrameNs(timeNs: bigint) {
    if (timeNs !== this.lastFrameNs) ReaderSession.#outsideOf(this).lastFrameNs = timeNs;
  }

  /** Notes that the connection is in its topic, and so has no {@link fresh} assets and is not stalled. */
  joined(): void {
    this.#outside = undefined;
  }

  text(text: string): void {
    this.terms.streams.receive(this, text);
  }

  pinged(): void {
    this.terms.streams.pinged(this);
  }

  oversize(messageBytes: number): void {
    this.terms.streams.refuseOversize(this, messageBytes);
  }

  lagged(sequence: number): void {
    this.terms.streams.lagged(this, sequence);
  }

  drained(bufferedBytes: number): void {
    this.terms.streams.drained(this, bufferedBytes);
  }

  /**
   * Notes that a separate frame for this connection did not fit behind the waiting bytes. All the connection's prices are due when the
   * socket has sent these bytes.
   */
  dropped(): void {
    this.terms.streams.lagged(this, NOTHING_SENT);
  }

  closed(): void {
    this.terms.streams.closed(this);
  }
}
