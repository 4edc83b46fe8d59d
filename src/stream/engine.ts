import type { AssetIndex } from '../model/asset.js';
import { earlierOf, type TimeNs } from '../model/time.js';
import { type AssetSet, assetSetOf, withAssets, withoutAssets } from './asset_set.js';
import { CatalogueChange } from './catalogue_change.js';
import { Delivery, type DeliveryCounters, type DeliveryOptions } from './delivery.js';
import type { Group, StreamSession } from './group.js';
import { GroupIndex } from './group_index.js';
import { IntervalTicks } from './interval_ticks.js';
import { nextTryNs } from './pace.js';
import type { StreamRights } from './reader_session.js';
import {
  answerText,
  errorText,
  type PingRequest,
  pongText,
  type RequestError,
  readRequest,
  type StreamRequest,
} from './request.js';
import { SessionEras, sentUpToNs } from './session_era.js';
import type { SlowReaderCounters } from './slow_readers.js';
import { indexById, type StreamCatalogue } from './stream_catalogue.js';
import { type StreamLimits, Subscriptions } from './subscriptions.js';

export interface StreamEngineOptions extends DeliveryOptions {
  readonly catalogue: StreamCatalogue;
  readonly limits: StreamLimits;
  readonly counters: StreamCounters;
  /** Called when the engine may need a tick earlier than the time that it last returned. */
  readonly onDue: (timeNs: bigint) => void;
}

export interface StreamCounters extends DeliveryCounters, SlowReaderCounters {}

/**
 * The streaming API without its sockets. The caller reports messages, price changes and ticks of the clock. The engine returns frames
 * through callbacks.
 */
export class StreamEngine extends Subscriptions<
  StreamSession,
  Group,
  StreamRequest | PingRequest,
  RequestError
> {
  readonly #options: StreamEngineOptions;
  readonly #delivery: Delivery;
  readonly #groups: GroupIndex;
  #catalogue: StreamCatalogue;
  #indexById: ReadonlyMap<number, AssetIndex>;
  readonly #ticks = new IntervalTicks();
  readonly #eras: SessionEras;
  /** The connections with ended assets, and these assets with their last streaming IDs. If an asset returns, its connections are subscribed to it again. */
  readonly #ended = new Map<StreamSession, ReadonlyMap<AssetIndex, number>>();

  constructor(options: StreamEngineOptions) {
    const groups = new GroupIndex(options.newTopic);
    super(options, groups, { read: readRequest, errorText });
    this.#groups = groups;
    this.#options = options;
    this.#delivery = new Delivery(options, (nowNs) => {
      this.#noticeStepBack(nowNs);
      this.#delivery.flush(nowNs);
      this.#askForTick(nowNs);
    });
    this.#eras = new SessionEras(options.times);
    this.#catalogue = options.catalogue;
    this.#indexById = indexById(options.catalogue);
  }

  /** Applies a changed catalogue and changed rights. The table must already have the new assets and IDs. */
  reload(catalogue: StreamCatalogue): void {
    const change = new CatalogueChange(this.#catalogue, catalogue);
    this.#catalogue = catalogue;
    this.#indexById = indexById(catalogue);
    this.#delivery.resize();
    const { ids } = this.#options.table;
    for (const session of new Set([...this.#groups.sessions(), ...this.#ended.keys()])) {
      const { assets, ended } = change.applyTo(session, this.#ended.get(session) ?? NONE_ENDED);
      this.#keepEnded(session, ended);
      // The IDs, and with them the order of the assets, may have changed even if the assets are the same.
      this.#regroup(session, assetSetOf(assets, ids));
    }
  }

  override closed(session: StreamSession): void {
    super.closed(session);
    this.#ended.delete(session);
    this.#eras.leave(session);
  }

  /** Returns whether a caller with these rights may subscribe to a streaming ID. */
  isVisible(id: number, rights: StreamRights): boolean {
    const index = this.#indexById.get(id);
    return index !== undefined && rights.maySee(this.#catalogue.assets[index]!.symbol);
  }

  /** Notes that the price of an asset has changed in the table. */
  priceChanged(index: AssetIndex): void {
    for (const group of this.#groups.realTimeOf(index)) this.#delivery.markDirty(group);
  }

  /** Notes that all prices of a publisher's message have been reported. */
  messageApplied(): void {
    this.#delivery.flushSoon();
  }

  /**
   * Does the work that is due. Must be called at {@link nextDueNs}, at the times of {@link StreamEngineOptions.onDue}, and a few times a
   * second.
   */
  tick(nowNs: TimeNs): void {
    this.#options.times.tick(nowNs);
    this.#noticeStepBack(nowNs);
    const due = this.#dueGroups(nowNs);
    if (due.length > 0) this.#delivery.emit(due, nowNs);
    this.#delivery.flush(nowNs);
    const isChecked = this.slowReaders.tick(nowNs);
    if (isChecked && this.#options.times.hasEarlier) this.#leaveEarlierEras(nowNs);
  }

  /**
   * Returns the time of the next tick that the engine needs: the next multiple of an interval that has connections, or of 1 ms while
   * changes wait.
   */
  nextDueNs(nowNs: TimeNs): bigint | undefined {
    return earlierOf(this.#ticks.nextNs, this.#delivery.isWaiting ? nextTryNs(nowNs) : undefined);
  }

  protected override carryOut(
    session: StreamSession,
    request: StreamRequest | PingRequest,
    nowNs: TimeNs,
  ): void {
    if (request.type === 'ping') session.connection.send(pongText(request));
    else if (!this.mayChange(session, request, request.assets.length, nowNs)) return;
    else if (request.type === 'subscribe') this.#subscribe(session, request);
    else this.#unsubscribe(session, request);
  }

  protected override enter(group: Group, session: StreamSession): void {
    this.#delivery.enter(group, session);
  }

  protected override resume(session: StreamSession, nowNs: TimeNs): void {
    this.#noticeStepBack(nowNs);
    super.resume(session, nowNs);
  }

  protected override leaveGroup(session: StreamSession): void {
    session.group?.payers?.delete(session.budgets.signedFrames);
    super.leaveGroup(session);
  }

  /** Takes a member out of the topic. The session keeps the time of the group's last frame. */
  protected override leaveTopic(group: Group, session: StreamSession): void {
    session.lastTimestampNs = sentUpToNs(session);
    session.lastFrameNs = group.lastFrameNs;
    super.leaveTopic(group, session);
  }

  #askForTick(nowNs: TimeNs): void {
    const dueNs = this.nextDueNs(nowNs);
    if (dueNs !== undefined) this.#options.onDue(dueNs);
  }

  /** Returns the groups of the fixed channels whose interval has ended since the last tick. */
  #dueGroups(nowNs: TimeNs): Group[] {
    const due: Group[] = [];
    this.#ticks.keepOnly(this.#groups.fixed);
    for (const [intervalMs, groups] of this.#groups.fixed) {
      const ticks = this.#ticks.since(intervalMs, nowNs);
      if (ticks === 0) continue;
      this.#options.counters.ticksSkipped += (ticks - 1) * groups.size;
      for (const group of groups) due.push(group);
    }
    return due;
  }

  #subscribe(session: StreamSession, request: StreamRequest): void {
    const { known, invalid } = this.#lookUp(session, request);
    if (invalid.length > 0 && !request.ignoreInvalid) {
      const error = `unknown asset IDs, or not covered by the token: ${invalid.join(', ')}`;
      this.replyError(session, error, request);
      return;
    }
    const { set, added } = withAssets(session.set, known, this.#options.table.ids);
    if (!this.mayHave(session, request, set.assets.length)) return;
    if (session.options.channel === 'real_time' && added.length > 0) {
      session.fresh ??= new Set();
      for (const index of added) session.fresh.add(index);
    }
    // Ended assets must leave room for new assets. The most recently ended assets are dropped first.
    const room = this.#options.limits.subscriptionsPerConnection - set.assets.length;
    const ended = this.#ended.get(session);
    if (ended !== undefined && ended.size > room) this.#keepEnded(session, [...ended].slice(0, room));
    this.#answerAndRegroup(session, request, set, invalid);
  }

  #unsubscribe(session: StreamSession, request: StreamRequest): void {
    const { known, invalid } = this.#lookUp(session, request);
    for (const index of known) session.fresh?.delete(index);
    if (session.fresh?.size === 0) session.fresh = undefined;
    const ended = this.#ended.get(session);
    if (ended !== undefined) {
      const gone = new Set(request.assets);
      this.#keepEnded(
        session,
        [...ended].filter(([, id]) => !gone.has(id)),
      );
    }
    const set = withoutAssets(session.set, known, this.#options.table.ids);
    this.#answerAndRegroup(session, request, set, invalid);
  }

  /** Finds the assets of a request. An ID that the token may not see counts as unknown, because no connection can subscribe to it. */
  #lookUp(session: StreamSession, { assets }: StreamRequest) {
    const known: AssetIndex[] = [];
    const invalid: number[] = [];
    for (const id of assets) {
      if (this.isVisible(id, session.rights)) known.push(this.#indexById.get(id)!);
      else invalid.push(id);
    }
    return { known, invalid };
  }

  #keepEnded(session: StreamSession, ended: Iterable<readonly [AssetIndex, number]>): void {
    const kept = new Map(ended);
    if (kept.size > 0) this.#ended.set(session, kept);
    else this.#ended.delete(session);
  }

  #answerAndRegroup(
    session: StreamSession,
    request: StreamRequest,
    set: AssetSet,
    invalid: readonly number[],
  ): void {
    if (request.id !== undefined) {
      const { ids } = this.#options.table;
      const assetIds = set.assets.map((index) => ids[index]!);
      session.connection.send(answerText(request.type, request.id, assetIds, invalid));
    }
    if (set !== session.set) this.#regroup(session, set);
  }

  #regroup(session: StreamSession, set: AssetSet): void {
    this.leaveGroup(session);
    if (set.assets.length === 0) {
      this.#eras.rest(session);
      return;
    }
    const { table, clock } = this.#options;
    const era = this.#eras.enter(session, clock.nowNs());
    const group = this.#groups.findOrAdd(session.options, era, set, table.sequence);
    group.payers?.add(session.budgets.signedFrames);
    if (group.intervalMs !== undefined) {
      this.#ticks.start(group.intervalMs, clock.nowNs());
      this.#askForTick(clock.nowNs());
    }
    this.enterGroup(group, session);
  }

  /** Handles a step back of the clock before any frame is made. Only connections that have received later times stay in the earlier era. */
  #noticeStepBack(nowNs: TimeNs): void {
    if (this.#eras.notice()) this.#leaveEarlierEras(nowNs);
  }

  /** Moves connections of earlier eras into the current era once the clock has passed the times that they received. */
  #leaveEarlierEras(nowNs: TimeNs): void {
    this.#eras.moveResting(nowNs);
    for (const session of this.#groups.sessions())
      if (this.#eras.mayMoveOn(session, nowNs)) this.#regroup(session, session.set);
  }
}

const NONE_ENDED: ReadonlyMap<AssetIndex, number> = new Map();
