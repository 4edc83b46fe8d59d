import type { Budget } from '../fair/budget.js';
import type { AssetIndex } from '../model/asset.js';

/** The sequence of a connection that was sent nothing: all of its prices are due. */
export const NOTHING_SENT = -1;

/** A WebSocket as the engine needs it. Frames are text; their bytes are only valid during the call. */
export interface StreamConnection {
  send(frame: Uint8Array | string): void;
  /**
   * From now on it gets the frames of the topic, until it leaves or {@link ReaderStreams.lagged} reports it.
   * @param sequence it has got all changes up to this price sequence
   */
  join(topic: number, sequence: number): void;
  leave(topic: number): void;
  close(code: number, reason: string): void;
}

/** What the token of a connection allows it to see. */
export interface StreamRights {
  maySee(symbol: string): boolean;
}

/** What the caller of a connection may do in a second, over all of its connections. */
export interface ReaderBudgets {
  /** In the costs of `signedFrameCost`. */
  readonly signedFrames: Budget;
  /** In assets that `subscribe` and `unsubscribe` name. */
  readonly subscriptionChanges: Budget;
}

/** The streams that a session belongs to, as it calls them when something happens on its socket. */
export interface ReaderStreams<Session> {
  /** A text message of the client. */
  receive(session: Session, text: string): void;
  /** A text message longer than `client_message_bytes`. */
  refuseOversize(session: Session, messageBytes: number): void;
  /** A frame was left out. @param sequence the connection has got all changes up to this one */
  lagged(session: Session, sequence: number): void;
  /** The socket has sent some of its waiting bytes. @param bufferedBytes how many still wait */
  drained(session: Session, bufferedBytes: number): void;
  /** The socket is gone. */
  closed(session: Session): void;
}

/**
 * One connection that gets prices in any form, and the events of its socket: one object, for there may be tens of thousands, most
 * of them idle.
 */
export abstract class ReaderSession<Group> {
  group: Group | undefined;
  /** Its place among the group's members. */
  memberPlace = 0;
  /** The connection has got all changes up to this sequence. */
  sequence = 0;
  /** Newly subscribed assets, which are due even unchanged. `undefined` instead of an empty set. */
  fresh: Set<AssetIndex> | undefined;
  /** While the socket does not take what it is sent: when it last took any of it, or was found not to. */
  stalledSinceNs: bigint | undefined;
  badMessages = 0;
  /** Control messages left in the current second. */
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

  oversize(messageBytes: number): void {
    this.streams.refuseOversize(this, messageBytes);
  }

  lagged(sequence: number): void {
    this.streams.lagged(this, sequence);
  }

  drained(bufferedBytes: number): void {
    this.streams.drained(this, bufferedBytes);
  }

  /** A frame for this connection alone did not fit behind what waits for it: all of its prices are due when it has drained. */
  dropped(): void {
    this.streams.lagged(this, NOTHING_SENT);
  }

  silent(): void {}

  heard(): void {}

  closed(): void {
    this.streams.closed(this);
  }
}
