import type { AssetIndex } from '../model/asset.js';
import { type Clock, millisecondOf, NS_PER_MS, secondOf, type TimeNs } from '../model/time.js';
import { FrameEncoder, type PayloadSignature } from './encoder.js';
import { Group } from './group.js';
import type { StreamOptions } from './options.js';
import type { PriceTable } from './price_table.js';
import { type RequestError, readRequest, type StreamRequest } from './request.js';
import { type StreamConnection, type StreamRights, StreamSession } from './session.js';

export interface StreamEngineOptions {
  readonly table: PriceTable;
  readonly symbols: readonly string[];
  readonly taxonomyId: number;
  readonly clock: Clock;
  /** Per asset index the market status at a UNIX second, or `NO_SCHEDULE`. */
  readonly statusesAt: (unixS: number) => Uint8Array;
  readonly digest: (body: Uint8Array) => Uint8Array;
  /** Signs at once. */
  readonly signOne: (digest: Uint8Array) => PayloadSignature;
  /** Signs at once where they are few, and on other threads where they are many. */
  readonly sign: (
    digests: readonly Uint8Array[],
  ) => readonly PayloadSignature[] | Promise<readonly PayloadSignature[]>;
  /** Sends a text frame to every connection of a topic; the bytes are only valid during the call. */
  readonly publish: (topic: string, frame: Uint8Array) => void;
  /** Calls back when the current turn of the event loop has handled its messages. */
  readonly defer: (callback: () => void) => void;
  readonly limits: StreamLimits;
  readonly counters: StreamCounters;
}

export interface StreamLimits {
  readonly clientMessageBytes: number;
  readonly subscriptionsPerConnection: number;
  readonly controlMessagesPerSecond: number;
  readonly slowConsumerNs: bigint;
}

/** Counts since the start. */
export interface StreamCounters {
  framesMade: number;
  framesSkipped: number;
  ticksSkipped: number;
  slowConsumersClosed: number;
}

/** `real_time` sends no faster than this (spec). */
const REAL_TIME_INTERVAL_NS = NS_PER_MS;
const BAD_MESSAGES_MAX = 10;
/** How often readers that do not read are looked at. */
const LAG_CHECK_INTERVAL_NS = 250n * NS_PER_MS;

/**
 * The streaming API without its sockets: who gets which frame when (contract §6). It is told what happens (messages,
 * price changes, ticks of the clock) and calls back with bytes.
 */
export class StreamEngine {
  readonly #options: StreamEngineOptions;
  readonly #encoder: FrameEncoder;
  readonly #indexById: Map<number, AssetIndex>;
  readonly #groups = new Map<string, Group>();
  readonly #fixedByInterval = new Map<number, Set<Group>>();
  /** `real_time` groups by asset index. */
  readonly #realTimeByAsset: Set<Group>[];
  readonly #lagging = new Set<StreamSession>();
  readonly sessions = new Set<StreamSession>();
  #dirty: Group[] = [];
  #flushDeferred = false;
  #topics = 0;
  #lastFrameNs = 0n;
  #lagCheckedNs = 0n;
  readonly #lastTickByInterval = new Map<number, number>();

  constructor(options: StreamEngineOptions) {
    this.#options = options;
    this.#encoder = new FrameEncoder(options.table, options.taxonomyId);
    this.#indexById = new Map(options.table.ids.map((id, index) => [id, index as AssetIndex]));
    this.#realTimeByAsset = options.table.ids.map(() => new Set());
  }

  get groupCount(): number {
    return this.#groups.size;
  }

  /** Whether any connection needs ticks of 1 ms; the fixed channels are multiples of 10. */
  get hasRealTime(): boolean {
    return this.#realTimeByAsset.some((groups) => groups.size > 0);
  }

  open(connection: StreamConnection, options: StreamOptions, rights: StreamRights): StreamSession {
    const session = new StreamSession(connection, options, rights);
    this.sessions.add(session);
    return session;
  }

  /** The socket is gone: nothing may be sent on it any more. */
  closed(session: StreamSession): void {
    this.sessions.delete(session);
    this.#lagging.delete(session);
    if (session.group) this.#removeFrom(session.group, session);
  }

  /** The socket has taken some of what waited for it. */
  drained(session: StreamSession): void {
    if (session.lag === undefined || session.connection.bufferedBytes() > 0) return;
    session.lag = undefined;
    this.#lagging.delete(session);
    if (session.group) this.#enter(session.group, session);
  }

  /** A text message of the client. */
  receive(session: StreamSession, text: string): void {
    const request = readRequest(text);
    if (!this.#takeControlMessage(session)) {
      const { controlMessagesPerSecond } = this.#options.limits;
      const error = `more than control_messages_per_second (${controlMessagesPerSecond}) messages in a second`;
      replyError(session, { error, id: request.id });
    } else if ('error' in request) {
      this.#refuseBadMessage(session, request);
    } else if (request.type === 'subscribe') {
      this.#subscribe(session, request);
    } else {
      this.#unsubscribe(session, request);
    }
  }

  /** A text message longer than `client_message_bytes`. */
  refuseOversize(session: StreamSession, messageBytes: number): void {
    const { clientMessageBytes } = this.#options.limits;
    const error = `the message has ${messageBytes} bytes, client_message_bytes is ${clientMessageBytes}`;
    this.#refuseBadMessage(session, { error, id: undefined });
  }

  /** The price of an asset changed in the table. */
  priceChanged(index: AssetIndex): void {
    for (const group of this.#realTimeByAsset[index]!) this.#markDirty(group);
  }

  /** A tick of the clock, at least every 10 ms, and every 1 ms while {@link hasRealTime}. */
  tick(nowNs: TimeNs): void {
    const nowMs = millisecondOf(nowNs);
    const due: Group[] = [];
    for (const [intervalMs, groups] of this.#fixedByInterval) {
      const tick = Math.floor(nowMs / intervalMs);
      const last = this.#lastTickByInterval.get(intervalMs) ?? tick;
      this.#lastTickByInterval.set(intervalMs, tick);
      // A clock that was stepped back starts counting anew.
      if (tick <= last) continue;
      this.#options.counters.ticksSkipped += (tick - last - 1) * groups.size;
      for (const group of groups) due.push(group);
    }
    if (due.length > 0) this.#emit(due, nowNs);
    this.#flush(nowNs);
    if (nowNs - this.#lagCheckedNs >= LAG_CHECK_INTERVAL_NS || nowNs < this.#lagCheckedNs)
      this.#checkLag(nowNs);
  }

  closeAll(code: number, reason: string): void {
    for (const session of [...this.sessions]) session.connection.close(code, reason);
  }

  #refuseBadMessage(session: StreamSession, error: RequestError): void {
    replyError(session, error);
    if (++session.badMessages === BAD_MESSAGES_MAX) session.connection.close(1008, 'too many bad messages');
  }

  #takeControlMessage(session: StreamSession): boolean {
    const second = secondOf(this.#options.clock.nowNs());
    if (second !== session.controlSecond) {
      session.controlSecond = second;
      session.controlMessagesLeft = this.#options.limits.controlMessagesPerSecond;
    }
    return session.controlMessagesLeft-- > 0;
  }

  #subscribe(session: StreamSession, request: StreamRequest): void {
    const { symbols, limits } = this.#options;
    const known: AssetIndex[] = [];
    const invalid: number[] = [];
    for (const id of request.assets) {
      const index = this.#indexById.get(id);
      if (index !== undefined && session.rights.maySee(symbols[index]!)) known.push(index);
      else invalid.push(id);
    }
    if (invalid.length > 0 && !request.ignoreInvalid) {
      const error = `unknown asset IDs, or not covered by the token: ${invalid.join(', ')}`;
      replyError(session, { error, id: request.id });
      return;
    }
    const assets = new Set([...session.assets, ...known]);
    if (assets.size > limits.subscriptionsPerConnection) {
      const error = `${assets.size} subscriptions, subscriptions_per_connection is ${limits.subscriptionsPerConnection}`;
      replyError(session, { error, id: request.id });
      return;
    }
    const before = new Set(session.assets);
    for (const index of known) if (!before.has(index)) session.fresh.add(index);
    this.#answerAndRegroup(session, request, [...assets], invalid);
  }

  #unsubscribe(session: StreamSession, request: StreamRequest): void {
    const gone = new Set(request.assets.map((id) => this.#indexById.get(id)));
    for (const index of gone) if (index !== undefined) session.fresh.delete(index);
    const invalid = request.assets.filter((id) => !this.#indexById.has(id));
    this.#answerAndRegroup(
      session,
      request,
      session.assets.filter((index) => !gone.has(index)),
      invalid,
    );
  }

  #answerAndRegroup(
    session: StreamSession,
    request: StreamRequest,
    assets: AssetIndex[],
    invalid: readonly number[],
  ): void {
    const { ids } = this.#options.table;
    const changed = assets.length !== session.assets.length;
    session.assets = assets.sort((a, b) => ids[a]! - ids[b]!);
    if (request.id !== undefined) {
      const { type, id } = request;
      const answer = { type, id, assets: session.assets.map((index) => ids[index]), invalid };
      session.connection.send(JSON.stringify(answer));
    }
    if (changed) this.#regroup(session);
  }

  #regroup(session: StreamSession): void {
    if (session.group) this.#removeFrom(session.group, session);
    session.group = undefined;
    if (session.assets.length === 0) return;
    const { channel, messageType, marketStatus } = session.options;
    const key = `${channel} ${messageType} ${marketStatus} ${session.assets.join()}`;
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = new Group(key, `g${this.#topics++}`, session.options, session.assets);
      this.#addGroup(group);
    }
    session.group = group;
    group.waiting.add(session);
    if (session.lag === undefined) this.#enter(group, session);
  }

  #addGroup(group: Group): void {
    this.#groups.set(group.key, group);
    if (group.intervalMs === undefined) {
      group.sequence = this.#options.table.sequence;
      for (const index of group.assets) this.#realTimeByAsset[index]!.add(group);
      return;
    }
    let groups = this.#fixedByInterval.get(group.intervalMs);
    if (groups === undefined) {
      groups = new Set();
      this.#fixedByInterval.set(group.intervalMs, groups);
      this.#lastTickByInterval.delete(group.intervalMs);
    }
    groups.add(group);
  }

  #removeFrom(group: Group, session: StreamSession): void {
    if (group.members.delete(session)) {
      // A closed socket has left its topics by itself.
      if (this.sessions.has(session)) session.connection.leave(group.topic);
      session.sequence = group.sequence;
      if (group.lastFrameNs > session.lastFrameNs) session.lastFrameNs = group.lastFrameNs;
    }
    group.waiting.delete(session);
    if (group.members.size + group.waiting.size > 0) return;
    this.#groups.delete(group.key);
    if (group.intervalMs === undefined) {
      for (const index of group.assets) this.#realTimeByAsset[index]!.delete(group);
    } else {
      const groups = this.#fixedByInterval.get(group.intervalMs)!;
      groups.delete(group);
      if (groups.size === 0) this.#fixedByInterval.delete(group.intervalMs);
    }
  }

  /** Brings a waiting connection up to date and into the topic, now or with the group's next frame. */
  #enter(group: Group, session: StreamSession): void {
    if (group.intervalMs === undefined) {
      const sent = this.#sendOwn(session, this.#options.clock.nowNs());
      if (!sent) this.#markDirty(group);
      if (group.dirty || group.signing || session.lag) return;
      // Nothing of the group has changed since its last frame, so the newcomer and the members know the same.
      group.sequence = session.sequence;
    }
    if (!group.signing) this.#join(group, session);
  }

  #join(group: Group, session: StreamSession): void {
    group.waiting.delete(session);
    group.members.add(session);
    if (session.lastFrameNs > group.lastFrameNs) group.lastFrameNs = session.lastFrameNs;
    session.connection.join(group.topic);
  }

  #markDirty(group: Group): void {
    if (group.dirty) return;
    group.dirty = true;
    this.#dirty.push(group);
    if (this.#flushDeferred) return;
    this.#flushDeferred = true;
    this.#options.defer(() => {
      this.#flushDeferred = false;
      this.#flush(this.#options.clock.nowNs());
    });
  }

  /** Sends the `real_time` groups what changed; those that sent less than 1 ms ago stay for the next tick. */
  #flush(nowNs: TimeNs): void {
    if (this.#dirty.length === 0) return;
    const due: Group[] = [];
    const later: Group[] = [];
    for (const group of this.#dirty) {
      if (group.members.size + group.waiting.size === 0) group.dirty = false;
      else if (group.signing || isTooSoon(nowNs, group.lastFrameNs)) later.push(group);
      else due.push(group);
    }
    this.#dirty = later;
    for (const group of due) group.dirty = false;
    if (due.length > 0) this.#emit(due, nowNs);
  }

  /** Makes one frame a group and publishes it; signed ones as soon as they are signed. */
  #emit(groups: readonly Group[], nowNs: TimeNs): void {
    const timestampNs = this.#nextFrameTime(nowNs);
    const toSign: { group: Group; body: Buffer }[] = [];
    for (const group of groups) {
      if (group.signing) {
        this.#options.counters.ticksSkipped++;
        continue;
      }
      this.#setAsideLagging(group, nowNs);
      const assets = this.#dueAssets(group);
      group.sequence = this.#options.table.sequence;
      if (group.intervalMs === undefined) this.#sendWaiting(group, nowNs);
      if (assets.length === 0 || group.members.size === 0) {
        this.#joinWaiting(group);
        continue;
      }
      group.lastFrameNs = nowNs;
      this.#options.counters.framesMade++;
      const statuses = this.#statuses(group.options, timestampNs);
      if (group.options.messageType === 'unsigned') {
        this.#options.publish(group.topic, this.#encoder.unsignedFrame(assets, timestampNs, statuses));
        this.#joinWaiting(group);
      } else {
        const body = Buffer.from(this.#encoder.payloadBody(assets, timestampNs, statuses));
        toSign.push({ group, body });
      }
    }
    if (toSign.length > 0) this.#signAndPublish(toSign);
  }

  #signAndPublish(frames: readonly { group: Group; body: Buffer }[]): void {
    const publish = (signatures: readonly PayloadSignature[]) => {
      frames.forEach(({ group, body }, i) => {
        group.signing = false;
        this.#options.publish(group.topic, this.#encoder.signedFrame(body, signatures[i]!));
        this.#joinWaiting(group);
      });
    };
    const signatures = this.#options.sign(frames.map(({ body }) => this.#options.digest(body)));
    if (!(signatures instanceof Promise)) {
      publish(signatures);
      return;
    }
    for (const { group } of frames) group.signing = true;
    signatures.then(publish, () => {
      // Without a signature there is no frame: the connections get the next one.
      for (const { group } of frames) {
        group.signing = false;
        this.#options.counters.framesSkipped += group.members.size;
      }
    });
  }

  #dueAssets(group: Group): readonly AssetIndex[] {
    const { live, changedAt } = this.#options.table;
    const { assets, sequence } = group;
    const due: AssetIndex[] = [];
    const always = group.intervalMs !== undefined;
    for (let i = 0; i < assets.length; i++) {
      const index = assets[i]!;
      if (live[index] === 1 && (always || changedAt[index]! > sequence)) due.push(index);
    }
    return due;
  }

  /** `real_time`: brings those that wait for the topic up to the same point as its members. */
  #sendWaiting(group: Group, nowNs: TimeNs): void {
    for (const session of group.waiting) {
      if (session.lag !== undefined) this.#options.counters.framesSkipped++;
      else if (!this.#sendOwn(session, nowNs)) this.#markDirty(group);
    }
  }

  #joinWaiting(group: Group): void {
    for (const session of group.waiting) {
      if (session.lag !== undefined) continue;
      // Prices may have changed while the frame was signed; who was told of them apart waits for the group.
      if (group.intervalMs !== undefined || session.sequence === group.sequence) this.#join(group, session);
    }
  }

  /**
   * `real_time`: sends one connection what it alone does not know yet.
   * @returns `false` when something is due but the last frame is less than 1 ms ago.
   */
  #sendOwn(session: StreamSession, nowNs: TimeNs): boolean {
    const { table, digest, signOne, counters } = this.#options;
    const due = session.assets.filter(
      (index) =>
        table.live[index] === 1 && (session.fresh.has(index) || table.changedAt[index]! > session.sequence),
    );
    if (due.length > 0) {
      if (isTooSoon(nowNs, session.lastFrameNs)) return false;
      const timestampNs = this.#nextFrameTime(nowNs);
      const statuses = this.#statuses(session.options, timestampNs);
      session.lastFrameNs = nowNs;
      counters.framesMade++;
      if (session.options.messageType === 'unsigned') {
        session.connection.send(this.#encoder.unsignedFrame(due, timestampNs, statuses));
      } else {
        const body = this.#encoder.payloadBody(due, timestampNs, statuses);
        session.connection.send(this.#encoder.signedFrame(body, signOne(digest(body))));
      }
    }
    session.fresh.clear();
    session.sequence = table.sequence;
    return true;
  }

  #statuses({ marketStatus }: StreamOptions, timestampNs: TimeNs): Uint8Array | undefined {
    return marketStatus ? this.#options.statusesAt(Number(secondOf(timestampNs))) : undefined;
  }

  /** Grows with every call, so `ts` grows on every connection, also when the clock is stepped back. */
  #nextFrameTime(nowNs: TimeNs): TimeNs {
    this.#lastFrameNs = nowNs > this.#lastFrameNs ? nowNs : this.#lastFrameNs + 1n;
    return this.#lastFrameNs as TimeNs;
  }

  /**
   * A member whose socket still holds bytes leaves the topic: a further frame would only wait behind older ones. It
   * comes back with the newest values when it has drained. One look a member and frame costs a fiftieth of a write.
   */
  #setAsideLagging(group: Group, nowNs: TimeNs): void {
    for (const session of group.members) {
      const bufferedBytes = session.connection.bufferedBytes();
      if (bufferedBytes === 0) continue;
      session.lag = { bufferedBytes, progressNs: nowNs };
      session.sequence = group.sequence;
      session.lastFrameNs = group.lastFrameNs;
      this.#lagging.add(session);
      group.members.delete(session);
      group.waiting.add(session);
      session.connection.leave(group.topic);
    }
    if (group.intervalMs !== undefined && group.waiting.size > 0) {
      this.#options.counters.framesSkipped += group.waiting.size;
    }
  }

  #checkLag(nowNs: TimeNs): void {
    this.#lagCheckedNs = nowNs;
    for (const session of [...this.#lagging]) {
      const lag = session.lag!;
      const bufferedBytes = session.connection.bufferedBytes();
      if (bufferedBytes < lag.bufferedBytes || nowNs < lag.progressNs) {
        session.lag = { bufferedBytes, progressNs: nowNs };
      } else if (nowNs - lag.progressNs >= this.#options.limits.slowConsumerNs) {
        this.#options.counters.slowConsumersClosed++;
        session.connection.close(1013, 'too slow');
      }
    }
  }
}

function isTooSoon(nowNs: bigint, lastFrameNs: bigint): boolean {
  return nowNs >= lastFrameNs && nowNs - lastFrameNs < REAL_TIME_INTERVAL_NS;
}

function replyError(session: StreamSession, { error, id }: RequestError): void {
  session.connection.send(JSON.stringify({ type: 'error', error, id }));
}
