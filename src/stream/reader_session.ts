import type { Budget } from '../fair/budget.js';

/** The sequence of a connection that was sent nothing: all of its prices are due. */
export const NOTHING_SENT = -1;

/** A WebSocket as the engine needs it. Frames are text; their bytes are only valid during the call. */
export interface StreamConnection {
  send(frame: Uint8Array | string): void;
  /**
   * From now on it gets the frames of the topic, until it leaves or {@link StreamEngine.lagged} reports it.
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

/** One connection that gets prices in any form. There may be tens of thousands, most of them idle, so it is kept small. */
export class ReaderSession {
  /** While the socket does not take what it is sent: when it last took any of it, or was found not to. */
  stalledSinceNs: bigint | undefined;
  badMessages = 0;
  /** Control messages left in the current second. */
  controlMessagesLeft = 0;
  controlSecond = 0;

  constructor(
    readonly connection: StreamConnection,
    readonly rights: StreamRights,
    readonly budgets: ReaderBudgets,
  ) {}
}
