import type { AssetIndex } from '../model/asset.js';
import { earlierOf, secondOf, type TimeNs } from '../model/time.js';
import { type AssetSet, assetSetOf, withAssets, withoutAssets } from './asset_set.js';
import {
  changesError,
  FLOOD_LENGTH_MAX,
  floodError,
  oversizeError,
  refuseBadMessage,
  replyError,
  subscriptionsError,
  takeControlMessage,
  takeSubscriptionChanges,
} from './client_messages.js';
import { Delivery, type DeliveryCounters, type DeliveryOptions, leave } from './delivery.js';
import type { Group, StreamSession } from './group.js';
import { GroupIndex } from './group_index.js';
import { IntervalTicks } from './interval_ticks.js';
import { KeptFrame } from './kept_frame.js';
import { tellMovedAssets } from './moved_assets.js';
import { nextTryNs } from './pace.js';
import { answerText, pongText, type RequestError, readRequest, type StreamRequest } from './request.js';
import { SessionEras } from './session_era.js';
import { type SlowReaderCounters, SlowReaders } from './slow_readers.js';
import { indexById, type StreamCatalogue } from './stream_catalogue.js';

export interface StreamEngineOptions extends DeliveryOptions {
  readonly catalogue: StreamCatalogue;
  readonly limits: StreamLimits;
  readonly counters: StreamCounters;
  /** Called when it needs a tick at a time that may be sooner than it said. */
  readonly onDue: (timeNs: bigint) => void;
}

export interface StreamLimits {
  readonly clientMessageBytes: number;
  readonly subscriptionsPerConnection: number;
  readonly controlMessagesPerSecond: number;
  readonly subscriptionChangesPerSecond: number;
  readonly slowConsumerNs: bigint;
}

export interface StreamCounters extends DeliveryCounters, SlowReaderCounters {}

const UNREAD: RequestError = { error: 'the message was not read', id: undefined };

/**
 * The streaming API without its sockets. Its caller reports messages, price changes and ticks of the clock; it calls back
 * with frames.
 */
export class StreamEngine {
  readonly #options: StreamEngineOptions;
  readonly #delivery: Delivery;
  readonly #groups: GroupIndex;
  readonly #slowReaders: SlowReaders<StreamSession>;
  #catalogue: StreamCatalogue;
  #indexById: ReadonlyMap<number, AssetIndex>;
  readonly #ticks = new IntervalTicks();
  readonly #eras: SessionEras;

  constructor(options: StreamEngineOptions) {
    this.#options = options;
    this.#delivery = new Delivery(options, (nowNs) => {
      this.#noticeStepBack(nowNs);
      this.#delivery.flush(nowNs);
      this.#askForTick(nowNs);
    });
    this.#eras = new SessionEras(options.times);
    const { table, taxonomyId } = options;
    this.#slowReaders = new SlowReaders(options.limits.slowConsumerNs, options.counters);
    this.#groups = new GroupIndex(options.newTopic, (assets) => new KeptFrame(table, taxonomyId, assets));
    this.#catalogue = options.catalogue;
    this.#indexById = indexById(options.catalogue);
  }

  get groupCount(): number {
    return this.#groups.size;
  }

  /** Puts a changed catalogue and changed rights in force. The table must already have the new assets and IDs. */
  reload(catalogue: StreamCatalogue): void {
    tellMovedAssets(this.#groups.sessions(), this.#catalogue, catalogue);
    this.#catalogue = catalogue;
    this.#indexById = indexById(catalogue);
    this.#delivery.resize();
    const listed = new Set(catalogue.listed.map(({ index }) => index));
    const { ids } = this.#options.table;
    for (const session of this.#groups.sessions()) {
      const assets = session.assets.filter((index) => listed.has(index) && this.#maySee(session, index));
      // IDs may have changed, and with them the order, even when the assets have not.
      this.#regroup(session, assetSetOf(assets, ids));
    }
  }

  /** The socket is gone: nothing may be sent on it any more. */
  closed(session: StreamSession): void {
    this.#slowReaders.delete(session);
    // A closed socket has already left its topics.
    session.group?.members.delete(session);
    this.#leaveGroup(session);
    this.#eras.leave(session);
  }

  /**
   * The socket still held bytes, so it did not get a frame, which would only have waited behind older ones. The connection
   * gets nothing more until it has drained, and then the newest values.
   * @param sequence it has got all changes up to this price sequence
   */
  lagged(session: StreamSession, sequence: number): void {
    const { group } = session;
    if (group?.members.has(session)) {
      leave(group, session);
      group.waiting.add(session);
    }
    if (sequence < session.sequence) session.sequence = sequence;
    this.#slowReaders.add(session, this.#options.clock.nowNs());
  }

  /** The socket has sent some of its waiting bytes. @param bufferedBytes how many still wait */
  drained(session: StreamSession, bufferedBytes: number): void {
    const nowNs = this.#options.clock.nowNs();
    if (!this.#slowReaders.drained(session, bufferedBytes, nowNs)) return;
    this.#noticeStepBack(nowNs);
    if (session.group) this.#delivery.enter(session.group, session);
  }

  /** A text message of the client. */
  receive(session: StreamSession, text: string): void {
    const { controlMessagesPerSecond, subscriptionChangesPerSecond } = this.#options.limits;
    const nowNs = this.#options.clock.nowNs();
    const isAllowed = takeControlMessage(session, Number(secondOf(nowNs)), controlMessagesPerSecond);
    // A flood costs no reading: only an ordinary message past the limit is looked at for the ID that its error carries.
    const request = isAllowed || text.length <= FLOOD_LENGTH_MAX ? readRequest(text) : UNREAD;
    if (!isAllowed) {
      replyError(session, { error: floodError(controlMessagesPerSecond), id: request.id });
    } else if ('error' in request) {
      refuseBadMessage(session, request);
    } else if (request.type === 'ping') {
      session.connection.send(pongText(request));
    } else if (!takeSubscriptionChanges(session, request.assets.length, nowNs)) {
      replyError(session, { error: changesError(subscriptionChangesPerSecond), id: request.id });
    } else if (request.type === 'subscribe') {
      this.#subscribe(session, request);
    } else {
      this.#unsubscribe(session, request);
    }
  }

  /** A text message longer than `client_message_bytes`. */
  refuseOversize(session: StreamSession, messageBytes: number): void {
    const error = oversizeError(messageBytes, this.#options.limits.clientMessageBytes);
    refuseBadMessage(session, { error, id: undefined });
  }

  /** The price of an asset changed in the table. */
  priceChanged(index: AssetIndex): void {
    for (const group of this.#groups.realTimeOf(index)) this.#delivery.markDirty(group);
  }

  /** All prices of a publisher's message have been told. */
  messageApplied(): void {
    this.#delivery.flushSoon();
  }

  /** A tick of the clock, at {@link nextDueNs} or {@link StreamEngineOptions.onDue} and a few times a second. */
  tick(nowNs: TimeNs): void {
    this.#options.times.tick(nowNs);
    this.#noticeStepBack(nowNs);
    const due = this.#dueGroups(nowNs);
    if (due.length > 0) this.#delivery.emit(due, nowNs);
    this.#delivery.flush(nowNs);
    const isChecked = this.#slowReaders.tick(nowNs);
    if (isChecked && this.#options.times.hasEarlier) this.#leaveEarlierEras(nowNs);
  }

  /** At the next multiple of an interval in use, and after 1 ms while changes wait to be sent. */
  nextDueNs(nowNs: TimeNs): bigint | undefined {
    return earlierOf(this.#ticks.nextNs, this.#delivery.isWaiting ? nextTryNs(nowNs) : undefined);
  }

  #askForTick(nowNs: TimeNs): void {
    const dueNs = this.nextDueNs(nowNs);
    if (dueNs !== undefined) this.#options.onDue(dueNs);
  }

  /** The groups of the fixed channels whose interval has ended since the last tick. */
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
      replyError(session, { error, id: request.id });
      return;
    }
    const { set, added } = withAssets(session.set, known, this.#options.table.ids);
    const { subscriptionsPerConnection } = this.#options.limits;
    if (set.assets.length > subscriptionsPerConnection) {
      const error = subscriptionsError(set.assets.length, subscriptionsPerConnection);
      replyError(session, { error, id: request.id });
      return;
    }
    if (session.options.channel === 'real_time' && added.length > 0) {
      session.fresh ??= new Set();
      for (const index of added) session.fresh.add(index);
    }
    this.#answerAndRegroup(session, request, set, invalid);
  }

  #unsubscribe(session: StreamSession, request: StreamRequest): void {
    const { known, invalid } = this.#lookUp(session, request);
    for (const index of known) session.fresh?.delete(index);
    if (session.fresh?.size === 0) session.fresh = undefined;
    const set = withoutAssets(session.set, known, this.#options.table.ids);
    this.#answerAndRegroup(session, request, set, invalid);
  }

  /** An ID that the token may not see is like one that does not exist. No connection is subscribed to it either. */
  #lookUp(session: StreamSession, { assets }: StreamRequest) {
    const known: AssetIndex[] = [];
    const invalid: number[] = [];
    for (const id of assets) {
      const index = this.#indexById.get(id);
      if (index !== undefined && this.#maySee(session, index)) known.push(index);
      else invalid.push(id);
    }
    return { known, invalid };
  }

  #maySee(session: StreamSession, index: AssetIndex): boolean {
    return session.rights.maySee(this.#catalogue.assets[index]!.symbol);
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
    this.#leaveGroup(session);
    if (set.assets.length === 0) {
      this.#eras.rest(session);
      return;
    }
    const { table, clock } = this.#options;
    const era = this.#eras.enter(session, clock.nowNs());
    const group = this.#groups.findOrAdd(session.options, era, set, table.sequence);
    session.group = group;
    group.waiting.add(session);
    group.payers?.add(session.budgets.signedFrames);
    if (group.intervalMs !== undefined) {
      this.#ticks.start(group.intervalMs, clock.nowNs());
      this.#askForTick(clock.nowNs());
    }
    if (session.stalledSinceNs === undefined) this.#delivery.enter(group, session);
  }

  /** After a step back of the clock, before any frame is made: only connections that were sent later times stay. */
  #noticeStepBack(nowNs: TimeNs): void {
    if (this.#eras.notice()) this.#leaveEarlierEras(nowNs);
  }

  /** Takes connections of earlier eras into the current one as soon as the clock is past their times. */
  #leaveEarlierEras(nowNs: TimeNs): void {
    this.#eras.moveResting(nowNs);
    for (const session of this.#groups.sessions())
      if (this.#eras.mayMoveOn(session, nowNs)) this.#regroup(session, session.set);
  }

  #leaveGroup(session: StreamSession): void {
    const { group } = session;
    if (group === undefined) return;
    if (group.members.has(session)) leave(group, session);
    group.waiting.delete(session);
    group.payers?.delete(session.budgets.signedFrames);
    session.group = undefined;
    if (group.members.size + group.waiting.size === 0) this.#groups.remove(group);
  }
}
