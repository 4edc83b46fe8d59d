import type { Budget } from '../fair/budget.js';
import type { ControlCount } from '../fair/control_count.js';
import type { AssetIndex } from '../model/asset.js';

/** The sequence of a connection that has received nothing. All of its prices are due. */
export const NOTHING_SENT = -1;

/** A connection in the form that the engine needs. The bytes of a frame are valid only during the call. */
export interface StreamConnection {
  /** Sends a message. @param isBinary true for a binary message; absent for text */
  send(frame: Uint8Array | string, isBinary?: boolean): void;
  /**
   * Adds the connection to a topic. The connection receives the topic's frames until it leaves, or until {@link
   * ReaderStreams.lagged} reports it.
   * @param sequence the price sequence up to which the connection has received all changes
   */
  join(topic: number, sequence: number): void;
  leave(topic: number): void;
  close(code: number, reason: string): void;
}

/** The rights that a connection has from its token. */
export interface StreamRights {
  maySee(symbol: string): boolean;
}

/** The limits on the work of a caller in a second, on all of its connections together. */
export interface ReaderBudgets {
  /** The budget of signed frames. The unit is the cost of `signedFrameCost`. */
  readonly signedFrames: Budget;
  /** The budget of assets in `subscribe` and `unsubscribe` messages. */
  readonly subscriptionChanges: Budget;
  /** The budget of control messages, pings and pongs. */
  readonly controlMessages: Budget;
}

/** The streams of a session. The session reports the events of its socket to its streams. */
export interface ReaderStreams<Session> {
  /** Handles a text message of the client. */
  receive(session: Session, text: string): void;
  /** Handles a ping, or a pong that does not answer a ping of the service. */
  pinged(session: Session): void;
  /** Handles a text message longer than `client_message_bytes`. */
  refuseOversize(session: Session, messageBytes: number): void;
  /**
   * Records that the socket skipped a frame. @param sequence the price sequence up to which the connection has received all
   * changes
   */
  lagged(session: Session, sequence: number): void;
  /** Records that the socket has sent some of its waiting bytes. @param bufferedBytes the number of bytes that still wait */
  drained(session: Session, bufferedBytes: number): void;
  /** Records that the socket is closed. */
  closed(session: Session): void;
}

/**
 * A connection that receives prices in any form, with the handlers of its socket's events. One object contains the connection and
 * the handlers to save memory, because a process may have tens of thousands of connections, most of them idle.
 */
export abstract class ReaderSession<Group> implements ControlCount {
  group: Group | undefined;
  /** The session's index in the roster of the group's members. */
  memberPlace = 0;
  /** The sequence up to which the connection has received all changes. */
  sequence = 0;
  /**
   * The newly subscribed assets. The next frame contains these assets even if their prices are unchanged. The field is
   * `undefined` instead of an empty set.
   */
  fresh: Set<AssetIndex> | undefined;
  /**
   * The last time at which the socket sent bytes, or at which the service found that the socket sends none; `undefined` while the
   * socket sends its bytes.
   */
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
   * Records that a frame for this connection alone did not fit behind the waiting bytes. All prices of the connection are due
   * when the socket has sent these bytes.
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
