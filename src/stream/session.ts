import type { StreamEra } from '../clock/stream_times.js';
import type { AssetIndex } from '../model/asset.js';
import type { Budget } from '../model/budget.js';
import { type AssetSet, NO_ASSETS } from './asset_set.js';
import type { Group } from './group.js';
import type { StreamOptions } from './options.js';

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

/** One connection of `/ws`. */
export class StreamSession extends ReaderSession {
  group: Group | undefined;
  /** Its place among the group's members. */
  memberPlace = 0;
  /** `real_time`: it has got all changes up to this price sequence. */
  sequence = 0;
  /** `real_time`: newly subscribed assets, which are due even unchanged. `undefined` instead of an empty set. */
  fresh: Set<AssetIndex> | undefined;
  /** When the last frame for this connection alone counts as sent, see `frameTime`. For members the group's time counts. */
  lastFrameNs = 0n;
  /** Where `ts` of its frames comes from. */
  era: StreamEra | undefined;
  /** The last `ts` that it was sent, or may have been, before it became a member; then see `sentUpToNs`. */
  lastTimestampNs = 0n;
  /** The group's last `ts` when it became a member. */
  joinedTimestampNs = 0n;

  constructor(
    connection: StreamConnection,
    readonly options: StreamOptions,
    rights: StreamRights,
    budgets: ReaderBudgets,
  ) {
    super(connection, rights, budgets);
  }

  get set(): AssetSet {
    return this.group?.set ?? NO_ASSETS;
  }

  /** Ascending by streaming ID. */
  get assets(): readonly AssetIndex[] {
    return this.set.assets;
  }
}
