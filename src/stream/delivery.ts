import type { StreamEra, StreamTimes } from '../clock/stream_times.js';
import type { AssetIndex } from '../model/asset.js';
import type { Clock, TimeNs } from '../model/time.js';
import { type FrameContent, FrameEncoder } from './encoder.js';
import { signedFrameCost } from './frame_budgets.js';
import { type Group, payAlone, type StreamSession } from './group.js';
import { areSentSoon, frameTime, isTooSoon, laterFrame } from './pace.js';
import { SignedBlock } from './signed_block.js';
import { DIGEST_BYTES, FramePieces, type FrameSigning, smallFirst } from './signed_frames.js';

export interface DeliveryOptions extends FrameSigning, FrameContent {
  readonly clock: Clock;
  readonly times: StreamTimes;
  /**
   * Sends a frame to every connection of a topic that can take it. During the call, the other connections are reported to {@link
   * Subscriptions.lagged}. The bytes are valid only during the call.
   * @param sequence the price sequence up to which the frame has all changes
   */
  readonly publish: (topic: number, frame: Uint8Array, sequence: number, isBinary?: boolean) => void;
  /** Returns a topic on which no other group publishes. */
  readonly newTopic: () => number;
  /** Calls the function after the current turn of the event loop has handled its messages. */
  readonly defer: (callback: () => void) => void;
  readonly counters: DeliveryCounters;
}

/** Counts since the start of the service. */
export interface DeliveryCounters {
  framesMade: number;
  framesSkipped: number;
  ticksSkipped: number;
}

/**
 * Makes frames, and sends each frame only to the connections that lack its content.
 *
 * A group's frame is made once, and published on the group's topic. A connection whose sequence differs from the members' (a new connection
 * or a slow reader) waits outside the topic. It receives separate frames until it is at the group's sequence, and then joins the topic.
 */
export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #endTurn: (nowNs: TimeNs) => void;
  readonly #pieces: FramePieces;
  /** The block of a frame that this thread signs by itself. */
  readonly #block = new SignedBlock();
  readonly #digest = new Uint8Array(DIGEST_BYTES);
  #encoder!: FrameEncoder;
  /** The `real_time` groups with unsent changes. */
  #dirty: Group[] = [];
  /** The state of this turn of the event loop. Changes wait for the end of the turn, except those already sent in the state `sent`. */
  #turn: 'unchanged' | 'changed' | 'sent' = 'unchanged';

  /** @param endTurn called at the end of a turn of the event loop that had changes; must call {@link flush} */
  constructor(options: DeliveryOptions, endTurn: (nowNs: TimeNs) => void) {
    this.#options = options;
    this.#endTurn = endTurn;
    this.resize();
    this.#pieces = new FramePieces(options, {
      onSigned: (group, frame, sequence) => this.#publishSigned(group, frame, sequence),
      onFailed: (group) => this.#signingFailed(group),
    });
  }

  /** True while changes of `real_time` groups wait for the next {@link flush}. */
  get isWaiting(): boolean {
    return this.#dirty.length > 0;
  }

  /** Adapts to changed assets of the table. Must be called after each such change. */
  resize(): void {
    const { table, taxonomyId, statusesAt } = this.#options;
    this.#encoder = new FrameEncoder(table, taxonomyId, statusesAt);
  }

  /** Schedules the changes of a `real_time` group for the end of this turn of the event loop, or 1 ms later. */
  markDirty(group: Group): void {
    if (group.dirty) return;
    this.#flushLater(group);
    if (this.#turn !== 'unchanged') return;
    this.#turn = 'changed';
    this.#options.defer(() => {
      this.#turn = 'unchanged';
      this.#endTurn(this.#options.clock.nowNs());
    });
  }

  /** Sends changes before the end of the turn if `areSentSoon` allows it; at most once per turn. */
  flushSoon(): void {
    if (this.#turn !== 'changed' || !areSentSoon(this.#dirty)) return;
    this.#turn = 'sent';
    this.#endTurn(this.#options.clock.nowNs());
  }

  #flushLater(group: Group): void {
    if (!group.dirty) this.#dirty.push(group);
    group.dirty = true;
  }

  /** Sends the changes of the dirty groups. A group whose last frame is less than 1 ms old waits for the next tick. */
  flush(nowNs: TimeNs): void {
    if (this.#dirty.length === 0) return;
    const due: Group[] = [];
    const later: Group[] = [];
    for (const group of this.#dirty) {
      if (group.members.size + group.waiting.size === 0) group.dirty = false;
      else if (group.signing || isTooSoon(nowNs, group.lastFrameNs) || group.isUnpaid(nowNs))
        later.push(group);
      else due.push(group);
    }
    this.#dirty = later;
    for (const group of due) group.dirty = false;
    if (due.length > 0) this.emit(due, nowNs);
  }

  /** Makes and publishes the due frame of each group. Skips groups whose last frame is still being signed. */
  emit(groups: Iterable<Group>, nowNs: TimeNs): void {
    const times = new Map<StreamEra, TimeNs>();
    const signed: Group[] = [];
    for (const group of groups) {
      if (group.payers === undefined) this.#emitUnsigned(group, nowNs, times);
      else if (group.signing) this.#options.counters.ticksSkipped++;
      else signed.push(group);
    }
    for (const group of smallFirst(signed)) this.#makeSigned(group, nowNs);
    this.#pieces.finish();
  }

  /** Sends a waiting connection the changes that it lacks. The connection joins the topic now or with the group's next frame. */
  enter(group: Group, session: StreamSession): void {
    if (group.intervalMs === undefined) {
      if (!this.#sendUpdate(session, this.#options.clock.nowNs())) this.markDirty(group);
      if (group.dirty || group.signing || session.stalledSinceNs !== undefined) return;
      // Nothing in the group has changed since its last frame, so the new connection and the members are at the same sequence.
      group.sequence = session.sequence;
    }
    if (!group.signing) this.#joinGroup(group, session);
  }

  /** Makes and publishes a group's unsigned frame. @param times the `ts` of all unsigned frames of this turn, by era */
  #emitUnsigned(group: Group, nowNs: TimeNs, times: Map<StreamEra, TimeNs>): void {
    const { sequence } = this.#options.table;
    this.#updateWaiting(group, nowNs);
    const frame = group.members.size > 0 ? this.#unsignedFrame(group, nowNs, times) : undefined;
    if (frame !== undefined) {
      this.#noteFrame(group, nowNs);
      this.#options.publish(group.topic, frame, sequence);
    }
    group.sequence = sequence;
    this.#joinWaiting(group);
  }

  /** Makes a group's frame. @returns a view that the next call overwrites; `undefined` when the group has no changes */
  #unsignedFrame(group: Group, nowNs: TimeNs, times: Map<StreamEra, TimeNs>): Buffer | undefined {
    const { era, options } = group;
    const assets = group.dueAssets(this.#options.table);
    if (assets.length === 0) return undefined;
    const timestampNs = times.get(era) ?? era.next(nowNs);
    times.set(era, timestampNs);
    group.lastTimestampNs = timestampNs;
    return this.#encoder.unsignedFrame(assets, timestampNs, options.mask);
  }

  /**
   * Makes a frame and starts to sign it. Makes no frame if the group has no changes, if none of its callers can pay, or if the engine may
   * sign no time.
   */
  #makeSigned(group: Group, nowNs: TimeNs): void {
    const { table, counters } = this.#options;
    const { sequence } = table;
    this.#updateWaiting(group, nowNs);
    const assets = group.members.size > 0 ? group.dueAssets(table) : [];
    if (assets.length === 0) {
      group.sequence = sequence;
      this.#joinWaiting(group);
      return;
    }
    const isPaid = group.payers!.pay(signedFrameCost(assets.length), nowNs);
    const timestampNs = isPaid ? group.era.nextSigned(nowNs) : undefined;
    if (timestampNs === undefined) {
      if (!isPaid) group.unpaidAtNs = nowNs;
      else if (group.intervalMs !== undefined) counters.ticksSkipped++;
      if (group.intervalMs === undefined) this.#flushLater(group);
      return;
    }
    group.lastTimestampNs = timestampNs;
    this.#noteFrame(group, nowNs);
    const { block } = this.#pieces;
    const { mask, binary } = group.options;
    const body = this.#encoder.addSigned(block, assets, timestampNs, mask, binary);
    this.#pieces.add(group, body, sequence);
  }

  #noteFrame(group: Group, nowNs: TimeNs): void {
    group.lastFrameNs = frameTime(group.lastTimestampNs, nowNs);
    group.lastFrameNumber = ++this.#options.counters.framesMade;
  }

  #publishSigned(group: Group, frame: Uint8Array, sequence: number): void {
    this.#options.publish(group.topic, frame, sequence, group.options.binary);
    // The sequence changes only now. A connection that left while the frame was being signed, or that cannot take it, does not receive it.
    group.sequence = sequence;
    this.#joinWaiting(group);
  }

  /** Handles a failed signature. The group's next frame has the lost frame's changes too. */
  #signingFailed(group: Group): void {
    this.#options.counters.framesSkipped += group.members.size;
    if (group.intervalMs === undefined) this.markDirty(group);
  }

  /** Counts the frames that slow readers miss. Sends waiting `real_time` connections the changes that they lack. */
  #updateWaiting(group: Group, nowNs: TimeNs): void {
    if (group.waiting.size === 0) return;
    for (const session of group.waiting) {
      if (session.stalledSinceNs !== undefined) this.#options.counters.framesSkipped++;
      else if (group.intervalMs === undefined && !this.#sendUpdate(session, nowNs)) this.#flushLater(group);
    }
  }

  /**
   * Joins waiting connections to the topic, except slow readers. On `real_time`, a connection joins only when it is at the group's sequence
   * and has all prices. While a frame is being signed, a new connection may have newer prices than the members, or no prices yet. It then
   * waits for the next frame.
   */
  #joinWaiting(group: Group): void {
    if (group.waiting.size === 0) return;
    for (const session of group.waiting) {
      if (session.stalledSinceNs !== undefined) continue;
      const isUpToDate = session.sequence === group.sequence && session.fresh === undefined;
      if (group.intervalMs !== undefined || isUpToDate) this.#joinGroup(group, session);
    }
  }

  #joinGroup(group: Group, session: StreamSession): void {
    group.waiting.delete(session);
    group.members.add(session);
    group.lastFrameNs = laterFrame(group.lastFrameNs, session.lastFrameNs, this.#options.clock.nowNs());
    session.joined();
    session.joinedTimestampNs = group.lastTimestampNs;
    session.connection.join(group.topic, group.sequence);
  }

  /**
   * Sends a `real_time` connection the prices that only this connection lacks.
   * @returns `false` when the connection must wait: its last frame is less than 1 ms old, the caller cannot pay, or the clock allows no
   * new signed time
   */
  #sendUpdate(session: StreamSession, nowNs: TimeNs): boolean {
    const { table } = this.#options;
    const isDue = (index: AssetIndex) =>
      table.live[index] === 1 && (session.fresh?.has(index) || table.changedAt[index]! > session.sequence);
    const due = session.assets.filter(isDue);
    let timestampNs: TimeNs | undefined;
    if (due.length > 0) {
      if (isTooSoon(nowNs, session.lastFrameNs)) return false;
      const isSigned = session.options.messageType === 'signed_ecdsa';
      if (isSigned && !payAlone(session, due.length, nowNs)) return false;
      timestampNs = isSigned ? session.era!.nextSigned(nowNs) : session.era!.next(nowNs);
      if (timestampNs === undefined) return false;
    }
    // These fields must change before the call of `send`, during which a socket may report a dropped frame.
    session.fresh = undefined;
    session.sequence = table.sequence;
    if (timestampNs !== undefined) this.#sendAlone(session, due, timestampNs, nowNs);
    return true;
  }

  #sendAlone(session: StreamSession, due: readonly AssetIndex[], timestampNs: TimeNs, nowNs: TimeNs): void {
    const { digest, signOne, counters } = this.#options;
    session.lastFrameNs = frameTime(timestampNs, nowNs);
    session.lastTimestampNs = timestampNs;
    counters.framesMade++;
    const { messageType, mask, binary } = session.options;
    if (messageType === 'unsigned') {
      session.connection.send(this.#encoder.unsignedFrame(due, timestampNs, mask));
      return;
    }
    this.#block.clear();
    digest(this.#encoder.addSigned(this.#block, due, timestampNs, mask, binary), this.#digest, 0);
    session.connection.send(this.#block.sign(0, signOne(this.#digest), 0), binary);
  }
}
