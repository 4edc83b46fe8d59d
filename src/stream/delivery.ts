import type { AssetIndex } from '../model/asset.js';
import { type Clock, NS_PER_MS, secondOf, type TimeNs } from '../model/time.js';
import { REAL_TIME_INTERVAL_MS } from '../wire/stream.js';
import { FrameEncoder, type PayloadSignature } from './encoder.js';
import type { Group } from './group.js';
import type { StreamOptions } from './options.js';
import type { PriceTable } from './price_table.js';
import type { StreamSession } from './session.js';

export interface DeliveryOptions {
  readonly table: PriceTable;
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
  /**
   * Sends a text frame to every connection of a topic that takes it; {@link StreamEngine.lagged} is told of the others,
   * during the call or later. The bytes are only valid during the call.
   * @param sequence the frame tells of what changed up to this price sequence
   */
  readonly publish: (topic: number, frame: Uint8Array, sequence: number) => void;
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

/** `real_time` sends no faster than this (spec). */
const REAL_TIME_INTERVAL_NS = BigInt(REAL_TIME_INTERVAL_MS) * NS_PER_MS;

interface UnsignedFrame {
  readonly group: Group;
  readonly body: Buffer;
  /** The price sequence that the body tells of. */
  readonly sequence: number;
}

/**
 * Makes frames and brings each to exactly the connections that it is news for.
 *
 * A group's frame is made once and published on the group's topic. A connection that is not at the same point as the
 * members (a newcomer, or a reader that was slow) waits beside the topic, is brought up to date by frames of its own,
 * and joins when the two are at the same point.
 */
export class Delivery {
  readonly #options: DeliveryOptions;
  #encoder: FrameEncoder;
  /** `real_time` groups that have something to send. */
  #dirty: Group[] = [];
  #flushDeferred = false;
  #lastTimestampNs = 0n;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#encoder = new FrameEncoder(options.table, options.taxonomyId);
  }

  /** The table has other assets than before. */
  resize(): void {
    this.#encoder = new FrameEncoder(this.#options.table, this.#options.taxonomyId);
  }

  /** Has a `real_time` group sent what changed, within this turn of the event loop or as soon as 1 ms is over. */
  markDirty(group: Group): void {
    if (group.dirty) return;
    this.#flushLater(group);
    if (this.#flushDeferred) return;
    this.#flushDeferred = true;
    this.#options.defer(() => {
      this.#flushDeferred = false;
      this.flush(this.#options.clock.nowNs());
    });
  }

  #flushLater(group: Group): void {
    if (group.dirty) return;
    group.dirty = true;
    this.#dirty.push(group);
  }

  /** Sends the dirty groups what changed; those that sent less than 1 ms ago stay for the next tick. */
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

  /** Makes one frame a group and publishes it; signed ones as soon as they are signed. */
  emit(groups: Iterable<Group>, nowNs: TimeNs): void {
    const { counters, table } = this.#options;
    const timestampNs = this.#nextTimestamp(nowNs);
    const toSign: UnsignedFrame[] = [];
    for (const group of groups) {
      if (group.signing) {
        counters.ticksSkipped++;
        continue;
      }
      const { sequence } = table;
      this.#updateWaiting(group, nowNs);
      const content = group.members.size > 0 ? this.#content(group, timestampNs) : undefined;
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
      // Nothing of the group has changed since its last frame, so the newcomer and the members know the same.
      group.sequence = session.sequence;
    }
    if (!group.signing) this.#join(group, session);
  }

  #signAndPublish(frames: readonly UnsignedFrame[]): void {
    const publish = (signatures: readonly PayloadSignature[]) => {
      frames.forEach(({ group, body, sequence }, i) => {
        group.signing = false;
        this.#options.publish(group.topic, this.#encoder.signedFrame(body, signatures[i]!), sequence);
        // Not before: who leaves while a frame is being signed, or cannot take it, does not get it.
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
      // Without a signature there is no frame: the connections get the next one, which tells them all of it.
      for (const { group } of frames) {
        group.signing = false;
        this.#options.counters.framesSkipped += group.members.size;
        if (group.intervalMs === undefined) this.markDirty(group);
      }
    });
  }

  /** An unsigned frame, or the body of a signed one, that the next call overwrites; `undefined` when nothing is due. */
  #content(group: Group, timestampNs: TimeNs): Buffer | undefined {
    const statuses = this.#statuses(group.options, timestampNs);
    if (group.keptFrame !== undefined) return group.keptFrame.at(timestampNs, statuses);
    const assets = this.#dueAssets(group);
    if (assets.length === 0) return undefined;
    return group.options.messageType === 'unsigned'
      ? this.#encoder.unsignedFrame(assets, timestampNs, statuses)
      : this.#encoder.payloadBody(assets, timestampNs, statuses);
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

  /** Those that wait beside the topic: counts what slow readers miss, and brings `real_time` ones to its point. */
  #updateWaiting(group: Group, nowNs: TimeNs): void {
    for (const session of group.waiting) {
      if (session.stalledSinceNs !== undefined) this.#options.counters.framesSkipped++;
      else if (group.intervalMs === undefined && !this.#update(session, nowNs)) this.#flushLater(group);
    }
  }

  /**
   * While a frame was signed, prices may have changed and a newcomer may know of it, or its snapshot is not sent yet: it
   * waits for the next frame.
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
    group.lastFrameNs = laterOf(group.lastFrameNs, session.lastFrameNs, this.#options.clock.nowNs());
    session.lastFrameNs = 0n;
    session.connection.join(group.topic, group.sequence);
  }

  /**
   * `real_time`: sends one connection what it alone does not know yet.
   * @returns `false` when something is due but its last frame is less than 1 ms ago.
   */
  #update(session: StreamSession, nowNs: TimeNs): boolean {
    const { table, digest, signOne, counters } = this.#options;
    const isDue = (index: AssetIndex) =>
      table.live[index] === 1 && (session.fresh?.has(index) || table.changedAt[index]! > session.sequence);
    const due = session.assets.filter(isDue);
    if (due.length > 0) {
      if (isTooSoon(nowNs, session.lastFrameNs)) return false;
      const timestampNs = this.#nextTimestamp(nowNs);
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
    session.fresh = undefined;
    session.sequence = table.sequence;
    return true;
  }

  #statuses({ marketStatus }: StreamOptions, timestampNs: TimeNs): Uint8Array | undefined {
    return marketStatus ? this.#options.statusesAt(Number(secondOf(timestampNs))) : undefined;
  }

  /** Grows with every call, so `ts` grows on every connection, also when the clock is stepped back. */
  #nextTimestamp(nowNs: TimeNs): TimeNs {
    this.#lastTimestampNs = nowNs > this.#lastTimestampNs ? nowNs : this.#lastTimestampNs + 1n;
    return this.#lastTimestampNs as TimeNs;
  }
}

/** Takes a member out of the topic; it knows what the group knew, and its last frame was the group's. */
export function leave(group: Group, session: StreamSession): void {
  group.members.delete(session);
  session.connection.leave(group.topic);
  session.sequence = group.sequence;
  session.lastFrameNs = group.lastFrameNs;
}

/** A time ahead of the clock is from before it was stepped back, so the other is the later one. */
function laterOf(oneNs: bigint, otherNs: bigint, nowNs: bigint): bigint {
  if (oneNs > nowNs) return otherNs;
  return otherNs > nowNs || oneNs > otherNs ? oneNs : otherNs;
}

function isTooSoon(nowNs: bigint, lastFrameNs: bigint): boolean {
  return nowNs >= lastFrameNs && nowNs - lastFrameNs < REAL_TIME_INTERVAL_NS;
}
