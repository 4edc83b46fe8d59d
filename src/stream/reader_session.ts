import type { Budget } from '../fair/budget.js';
import type { ControlCount } from '../fair/control_count.js';
import type { AssetIndex } from '../model/asset.js';

/** The sequence of a connection that has received nothing: all of its prices are due. */
export const NOTHING_SENT = -1;

/** A WebSocket in the form that the engine needs. Frames are text; their bytes are only valid during the call. */
export interface StreamConnection {
  send(frame: Uint8Array | string): void;
  /**
   * Adds the connection to a topic: it receives the topic's frames until it leaves or {@link ReaderStreams.lagged} reports it.
   * @param sequence the connection has received all changes up to this price sequence
   */
  join(topic: number, sequence: number): void;
  leave(topic: number): void;
  close(code: number, reason: string): void;
}

/** The rights that the token of a connection gives it. */
export interface StreamRights {
  maySee(symbol: string): boolean;
}

/** The work that the caller of a connection may cause in a second, over all of its connections. */
export interface ReaderBudgets {
  /** The budget in the costs of `signedFrameCost`. */
  readonly signedFrames: Budget;
  /** The budget in assets that `subscribe` and `unsubscribe` name. */
  readonly subscriptionChanges: Budget;
  /** The budget in control messages, pings and pongs. */
  readonly controlMessages: Budget;
}

/** The streams of a session, in the form in which it reports the events of its socket. */
export interface ReaderStreams<Session> {
  /** Handles a text message of the client. */
  receive(session: Session, text: string): void;
  /** Handles a ping, or a pong that answers no ping of the service. */
  pinged(session: Session): void;
  /** Handles a text message longer than `client_message_bytes`. */
  refuseOversize(session: Session, messageBytes: number): void;
  /** Notes that a frame was skipped. @param sequence the connection has received all changes up to this one */
  lagged(session: Session, sequence: number): void;
  /** Notes that the socket has sent some of its waiting bytes. @param bufferedBytes the number of bytes that still wait */
  drained(session: Session, bufferedBytes: number): void;
  /** Notes that the socket is closed. */
  closed(session: Session): void;
}

/**
 * A connection that receives prices in any form, and the events of its socket: one object, because there may be tens of
 * thousands, most of them idle.
 */
export abstract class ReaderSession<Group> implements ControlCount {
  group: Group | undefined;
  /** The session's place among the group's members. */
  memberPlace = 0;
  /** The sequence up to which the connection has received all changes. */
  sequence = 0;
  /** Newly subscribed assets, which are due even unchanged. `undefined` instead of an empty set. */
  fresh: Set<AssetIndex> | undefined;
  /** The time at which the socket last took some of its bytes, or was found not to; only while the socket does not take them. */
  stalledSinceNs: bigint | undefined;
  badMessages = 0;
  controlMessagesLeft = 0;
  controlSecond = 0;
  abstract readonly streams: ReaderStreams<this>;

  constructor(
    readonly connection: StreamConnection,
    readonly rights: StreamRights,
    readonly budgets: ReaderBudgets,
  ) {}

  text(text: string): void {
    this.streams.receive(this, text);
  }

  pinged(): void {
    this.streams.pinged(this);
  }

  oversize(messageBytes: number): void {
    this.streams.refuseOversize(this, messageBytes);
  }

  lagged(sequence: number): void {
    this.streams.lagged(this, sequence);
  }

  drained(bufferedBytes: number): void {
    this.streams.drained(this, bufferedBytes);
  }

  /**
   * Notes that a frame for this connection alone did not fit behind the waiting bytes: all of its prices are due when the socket
   * has sent them.
   */
  dropped(): void {
    this.streams.lagged(this, NOTHING_SENT);
  }

  silent(): void {}

  unfinished(): void {}

  heard(): void {}

  closed(): void {
    this.streams.closed(this);
  }
}
