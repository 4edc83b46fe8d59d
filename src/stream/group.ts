import type { StreamEra } from '../clock/stream_times.js';
import type { AssetIndex } from '../model/asset.js';
import { NS_PER_MS, type TimeNs } from '../model/time.js';
import { CHANNEL_INTERVALS_MS } from '../wire/stream.js';
import { type AssetSet, NO_ASSETS } from './asset_set.js';
import { FrameBudgets, signedFrameCost } from './frame_budgets.js';
import type { PriceTable } from './price_table.js';
import { ReaderGroup } from './reader_group.js';
import { ReaderSession, type ReaderTerms, type StreamConnection } from './reader_session.js';
import type { StreamQuery } from './stream_options.js';

/** The time for which a `real_time` group waits after no caller could pay. */
const UNPAID_WAIT_NS = 10n * NS_PER_MS;

/**
 * The connections with the same channel, message type, attributes, asset set and era. They share the bytes and the signature of each frame,
 * and the group's topic.
 */
export class Group extends ReaderGroup<StreamSession> {
  /** The time at which the last frame counts as sent; see `frameTime`. */
  lastFrameNs = 0n;
  /** The `ts` of the last frame. */
  lastTimestampNs = 0n;
  /**
   * True while a frame is being signed. On `real_time`, the next frame waits for this signature. On fixed channels, the group skips the
   * next frame.
   */
  signing = false;
  /** The callers that pay for the group's frames; only for `signed_ecdsa`. */
  readonly payers: FrameBudgets | undefined;
  /** The last time at which no caller could pay. */
  unpaidAtNs = 0n;
  /** The number of the group's last frame, counted over all groups. */
  lastFrameNumber = 0;
  readonly intervalMs: number | undefined;
  /** The assets, ascending by streaming ID. */
  readonly assets: readonly AssetIndex[];

  constructor(
    key: string,
    topic: number,
    sequence: number,
    readonly options: StreamQuery,
    readonly era: StreamEra,
    readonly set: AssetSet,
  ) {
    super(key, topic, sequence);
    this.assets = set.assets;
    this.intervalMs = CHANNEL_INTERVALS_MS[options.channel];
    if (options.messageType === 'signed_ecdsa') this.payers = new FrameBudgets();
  }

  /** Returns whether the group must wait before it tries its callers' budgets again. */
  isUnpaid(nowNs: TimeNs): boolean {
    return nowNs >= this.unpaidAtNs && nowNs - this.unpaidAtNs < UNPAID_WAIT_NS;
  }

  /**
   * Returns the assets of the next frame. On a fixed channel, these are all live assets of the set. On `real_time`, these are the assets
   * that have changed since the group's last frame.
   */
  dueAssets({ live, changedAt }: PriceTable): AssetIndex[] {
    const { assets } = this;
    const changedAfter = this.intervalMs === undefined ? this.sequence : -1;
    const due: AssetIndex[] = [];
    for (let i = 0; i < assets.length; i++) {
      const index = assets[i]!;
      if (live[index] === 1 && changedAt[index]! > changedAfter) due.push(index);
    }
    return due;
  }
}

/** The terms of the connections of a caller with the same options. */
export interface StreamTerms extends ReaderTerms<StreamSession> {
  readonly options: StreamQuery;
}

/** A connection of `/ws`. */
export class StreamSession extends ReaderSession<Group> {
  /** The era that determines the `ts` of the connection's frames. */
  era: StreamEra | undefined;
  /** The last `ts` that the connection received, or may have received, before it became a member. For members, see `sentUpToNs`. */
  lastTimestampNs = 0n;
  /** The group's last `ts` when the connection became a member. */
  joinedTimestampNs = 0n;

  constructor(
    connection: StreamConnection,
    readonly terms: StreamTerms,
  ) {
    super(connection);
  }

  get options(): StreamQuery {
    return this.terms.options;
  }

  get set(): AssetSet {
    return this.group?.set ?? NO_ASSETS;
  }

  /** The assets, ascending by streaming ID. */
  get assets(): readonly AssetIndex[] {
    return this.set.assets;
  }
}

/** Takes the cost of a separate frame for this connection from the caller's budget. @returns true when the caller could pay */
export function payAlone({ budgets, group }: StreamSession, assets: number, nowNs: TimeNs): boolean {
  if (budgets.signedFrames.take(signedFrameCost(assets), nowNs)) return true;
  budgets.signedFrames.countRefusal();
  if (group !== undefined) group.unpaidAtNs = nowNs;
  return false;
}
