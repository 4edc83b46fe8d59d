import type { StreamEra, StreamTimes } from '../clock/stream_times.js';
import type { AssetIndex } from '../model/asset.js';
import { type Clock, secondOf, type TimeNs } from '../model/time.js';
import { FrameEncoder, type PayloadSignature } from './encoder.js';
import type { Group } from './group.js';
import type { StreamOptions } from './options.js';
import { isTooSoon, laterFrame } from './pace.js';
import type { PriceTable } from './price_table.js';
import type { StreamSession } from './session.js';
import { sentUpToNs } from './session_era.js';

export interface DeliveryOptions {
  readonly table: PriceTable;
  readonly taxonomyId: number;
  readonly clock: Clock;
  readonly times: StreamTimes;
  /** Per asset index the market status at a UNIX second, or `NO_SCHEDULE`. */
  readonly statusesAt: (unixS: number) => Uint8Array;
  readonly digest: (body: Uint8Array) => Uint8Array;
  /** Signs at once. */
  readonly signOne: (digest: Uint8Array) => PayloadSignature;
  /** Signs a few at once, and many on other threads. */
  readonly sign: (
    digests: readonly Uint8Array[],
  ) => readonly PayloadSignature[] | Promise<readonly PayloadSignature[]>;
  /**
   * Sends a text frame to every connection of a topic that takes it; {@link StreamEngine.lagged} takes the others,
   * during the call or later. The bytes are only valid during the call.
   * @param sequence the frame tells of what changed up to this price sequence
   */
  readonly publish: (topic: number, frame: Uint8Array, sequence: number) => void;
  /** A topic that nobody else publishes on. */
  readonly newTopic: () => number;
  /** Calls back when the current turn of the event loop has handled its messages. */
  readonly defer: (callback: () => void) => void;
  readonly counters: DeliveryCounters;
}

/** Counts since the start. */
export interface DeliveryCounters {
  framesMade: number;
  framesSkipped: number;
  ticksSkipped: number;
}

interface UnsignedFrame {
  readonly group: Group;
  readonly body: Buffer;
  /** The price sequence of the body: it holds all changes up to it. */
  readonly sequence: number;
}

/**
 * Makes frames and sends each to exactly the connections that lack its content.
 *
 * A group's frame is made once and published on the group's topic. A connection that is not at the sequence of the members (a
 * newcomer, or a slow reader) waits outside the topic. It gets frames of its own until it is at the group's sequence, and then
 * joins the topic.
 */
export class Delivery {
  readonly #options: DeliveryOptions;
  readonly #beforeFlush: (nowNs: TimeNs) => void;
  #encoder: FrameEncoder;
  /** `real_time` groups with changes to send. */
  #dirty: Group[] = [];
  #flushDeferred = false;

  /** @param beforeFlush called before what changed in a turn of the event loop is sent */
  constructor(options: DeliveryOptions, beforeFlush: (nowNs: TimeNs) => void) {
    this.#options = options;
    this.#beforeFlush = beforeFlush;
    this.#encoder = new FrameEncoder(options.table, options.taxonomyId);
  }

  /** Must be called when the table has other assets than before. */
  resize(): void {
    this.#encoder = new FrameEncoder(this.#options.table, this.#options.taxonomyId);
  }

  /** Schedules the changes of a `real_time` group, at the end of this turn of the event loop or once 1 ms is over. */
  markDirty(group: Group): void {
    if (group.dirty) return;
    this.#flushLater(group);
    if (this.#flushDeferred) return;
    this.#flushDeferred = true;
    this.#options.defer(() => {
      this.#flushDeferred = false;
      const nowNs = this.#options.clock.nowNs();
      this.#beforeFlush(nowNs);
      this.flush(nowNs);
    });
  }

  #flushLater(group: Group): void {
    if (group.dirty) return;
    group.dirty = true;
    this.#dirty.push(group);
  }

  /** Sends the changes of the dirty groups. Groups that sent less than 1 ms ago wait for the next tick. */
  flush(nowNs: TimeNs): void {
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
    if (due.length > 0) this.emit(due, nowNs);
  }

  /** Makes one frame for each group and publishes it, at once or when it is signed. */
  emit(groups: Iterable<Group>, nowNs: TimeNs): void {
    const { counters, table } = this.#options;
    const unsignedTimes = new Map<StreamEra, TimeNs>();
    const toSign: UnsignedFrame[] = [];
    for (const group of groups) {
      if (group.signing) {
        counters.ticksSkipped++;
        continue;
      }
      const { sequence } = table;
      this.#updateWaiting(group, nowNs);
      const content = group.members.size > 0 ? this.#content(group, nowNs, unsignedTimes) : undefined;
      if (content === 'held') {
        if (group.intervalMs === undefined) this.#flushLater(group);
        else counters.ticksSkipped++;
        continue;
      }
      if (content !== undefined) {
        group.lastFrameNs = nowNs;
        counters.framesMade++;
        if (group.options.messageType === 'signed_ecdsa') {
          toSign.push({ group, body: Buffer.from(content), sequence });
          continue;
        }
        this.#options.publish(group.topic, content, sequence);
      }
      group.sequence = sequence;
      this.#joinWaiting(group);
    }
    if (toSign.length > 0) this.#signAndPublish(toSign);
  }

  /** Brings a waiting connection up to date and into the topic, now or with the group's next frame. */
  enter(group: Group, session: StreamSession): void {
    if (group.intervalMs === undefined) {
      if (!this.#update(session, this.#options.clock.nowNs())) this.markDirty(group);
      if (group.dirty || group.signing) return;
      // Nothing of the group has changed since its last frame, so the newcomer and the members are at the same sequence.
      group.sequence = session.sequence;
    }
    if (!group.signing) this.#join(group, session);
  }

  #signAndPublish(frames: readonly UnsignedFrame[]): void {
    const publish = (signatures: readonly PayloadSignature[]) => {
      frames.forEach(({ group, body, sequence }, i) => {
        group.signing = false;
        this.#options.publish(group.topic, this.#encoder.signedFrame(body, signatures[i]!), sequence);
        // Only now: a connection that left while the frame was signed, or cannot take it, does not get it.
        group.sequence = sequence;
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
      // Without a signature there is no frame. The next one holds all of these changes.
      for (const { group } of frames) {
        group.signing = false;
        this.#options.counters.framesSkipped += group.members.size;
        if (group.intervalMs === undefined) this.markDirty(group);
      }
    });
  }

  /**
   * An unsigned frame, or the body of a signed one, that the next call overwrites; `undefined` when nothing is due.
   * @param unsignedTimes the `ts` that the unsigned frames of this turn share in each era
   * @returns `held` while no time may be signed
   */
  #content(group: Group, nowNs: TimeNs, unsignedTimes: Map<StreamEra, TimeNs>): Buffer | 'held' | undefined {
    const { era, keptFrame, options } = group;
    const assets = keptFrame === undefined ? this.#dueAssets(group) : [];
    if (keptFrame === undefined && assets.length === 0) return undefined;
    const statuses = this.#statuses(options, nowNs);
    if (options.messageType === 'signed_ecdsa') {
      const timestampNs = era.nextSigned(nowNs);
      if (timestampNs === undefined) return 'held';
      group.lastTimestampNs = timestampNs;
      return this.#encoder.payloadBody(assets, timestampNs, statuses);
    }
    const timestampNs = unsignedTimes.get(era) ?? era.next(nowNs);
    unsignedTimes.set(era, timestampNs);
    const frame = keptFrame
      ? keptFrame.at(timestampNs, statuses)
      : this.#encoder.unsignedFrame(assets, timestampNs, statuses);
    if (frame !== undefined) group.lastTimestampNs = timestampNs;
    return frame;
  }

  /** A fixed channel sends every live asset of the set, `real_time` those that changed since the group's last frame. */
  #dueAssets({ assets, sequence, intervalMs }: Group): AssetIndex[] {
    const { live, changedAt } = this.#options.table;
    const changedAfter = intervalMs === undefined ? sequence : -1;
    const due: AssetIndex[] = [];
    for (let i = 0; i < assets.length; i++) {
      const index = assets[i]!;
      if (live[index] === 1 && changedAt[index]! > changedAfter) due.push(index);
    }
    return due;
  }

  /** For connections outside the topic: counts the frames that slow readers miss, and sends `real_time` ones their changes. */
  #updateWaiting(group: Group, nowNs: TimeNs): void {
    for (const session of group.waiting) {
      if (session.stalledSinceNs !== undefined) this.#options.counters.framesSkipped++;
      else if (group.intervalMs === undefined && !this.#update(session, nowNs)) this.#flushLater(group);
    }
  }

  /**
   * Joins every waiting connection that is at the group's sequence. While a frame is signed, a newcomer may have got newer
   * prices than the members, or none yet; then it waits for the next frame.
   */
  #joinWaiting(group: Group): void {
    for (const session of group.waiting) {
      if (session.stalledSinceNs !== undefined) continue;
      const isUpToDate = session.sequence === group.sequence && session.fresh === undefined;
      if (group.intervalMs !== undefined || isUpToDate) this.#join(group, session);
    }
  }

  #join(group: Group, session: StreamSession): void {
    group.waiting.delete(session);
    group.members.add(session);
    group.lastFrameNs = laterFrame(group.lastFrameNs, session.lastFrameNs, this.#options.clock.nowNs());
    session.lastFrameNs = 0n;
    session.joinedTimestampNs = group.lastTimestampNs;
    session.connection.join(group.topic, group.sequence);
  }

  /**
   * `real_time`: sends one connection what it alone does not know yet.
   * @returns `false` when something is due but its last frame is less than 1 ms ago, or no time may be signed.
   */
  #update(session: StreamSession, nowNs: TimeNs): boolean {
    const { table, digest, signOne, counters } = this.#options;
    const isDue = (index: AssetIndex) =>
      table.live[index] === 1 && (session.fresh?.has(index) || table.changedAt[index]! > session.sequence);
    const due = session.assets.filter(isDue);
    if (due.length > 0) {
      if (isTooSoon(nowNs, session.lastFrameNs)) return false;
      const era = session.era!;
      const isSigned = session.options.messageType === 'signed_ecdsa';
      const timestampNs = isSigned ? era.nextSigned(nowNs) : era.next(nowNs);
      if (timestampNs === undefined) return false;
      const statuses = this.#statuses(session.options, nowNs);
      session.lastFrameNs = nowNs;
      session.lastTimestampNs = timestampNs;
      counters.framesMade++;
      if (!isSigned) {
        session.connection.send(this.#encoder.unsignedFrame(due, timestampNs, statuses));
      } else {
        const body = this.#encoder.payloadBody(due, timestampNs, statuses);
        session.connection.send(this.#encoder.signedFrame(body, signOne(digest(body))));
      }
    }
    session.fresh = undefined;
    session.sequence = table.sequence;
    return true;
  }

  #statuses({ marketStatus }: StreamOptions, nowNs: TimeNs): Uint8Array | undefined {
    return marketStatus ? this.#options.statusesAt(Number(secondOf(nowNs))) : undefined;
  }
}

/** Takes a member out of the topic. It keeps the group's sequence and the time of its last frame. */
export function leave(group: Group, session: StreamSession): void {
  session.lastTimestampNs = sentUpToNs(session);
  group.members.delete(session);
  session.connection.leave(group.topic);
  session.sequence = group.sequence;
  session.lastFrameNs = group.lastFrameNs;
}
