import { NODE_BITS, NODE_MAX } from '../model/node_list.js';
import { type Clock, NS_PER_SECOND, type TimeNs } from '../model/time.js';
import { isLongAgo } from './aggregate_times.js';
import { type MarkPlace, WrittenMark } from './written_mark.js';

/**
 * The number of bits of the thread in the low bits of `ts`. The low bits are {@link NODE_BITS} of the node, then these bits, then the
 * bits of the era.
 */
const THREAD_BITS = 3;
const ERA_BITS = 3;
const LOW_BITS = BigInt(NODE_BITS + THREAD_BITS + ERA_BITS);
const ERA_NUMBERS = 1 << ERA_BITS;
/** The number of threads of a process that can sign frames. */
export const THREADS_MAX = 1 << THREAD_BITS;
/**
 * The limit of the age of the last attempt. Waiting frames try again at least once a second, so an older attempt means that no
 * frame waits.
 */
const TRIED_AGAIN_NS_MAX = 2n * NS_PER_SECOND;

export interface StreamTimesOptions {
  readonly clock: Clock;
  /** The node's number, 0 to 63. All processes with the same signing key have different numbers. */
  readonly node: number;
  /** The thread's number, 0 to 7. */
  readonly thread: number;
  /** Returns the place of the mark of a node, thread and era, by the low bits of their `ts`. */
  readonly placeOf: (lowBits: number) => MarkPlace;
}

/**
 * The `ts` of frames. The low 12 bits (4 µs) of a `ts` name the node, the thread and the era. The upper bits are the clock's time. Each
 * signed frame has a different `ts`, so no key signs two payloads with the same `ts`.
 *
 * Within an era, times only grow. After a step back of the clock, a new era begins at the clock's time. Connections that have received
 * later times stay in the earlier era, whose times grow by the smallest step until the clock has caught up. New connections use the new
 * era, so their times are not ahead of the clock.
 *
 * There are 8 numbers for eras. Each number has a mark on disk. No process has ever signed a time with this number after its
 * mark. An era takes a number only when the clock is past the number's mark. If no number is free, the era's signed frames wait.
 * Only many steps back in a short time can use up the numbers.
 */
export class StreamTimes {
  readonly #clock: Clock;
  readonly #numbers: EraNumbers;
  /** The current era, and the earlier eras that still have connections. */
  readonly #eras = new Set<StreamEra>();
  #current: StreamEra;
  #seenNs: bigint;
  #begun = 0;

  /** @throws RangeError when the node's or the thread's number is invalid. */
  constructor({ clock, node, thread, placeOf }: StreamTimesOptions) {
    const nowNs = clock.nowNs();
    this.#clock = clock;
    this.#numbers = new EraNumbers(markNumbers(node, thread), nowNs, placeOf);
    this.#seenNs = nowNs;
    this.#current = this.#begin(nowNs);
  }

  /** Resolves when the write of every mark has succeeded or failed. */
  settled(): Promise<void> {
    return this.#numbers.settled();
  }

  /** Returns the era of new connections. Each step back of the clock begins a new era. */
  current(): StreamEra {
    const nowNs = this.#clock.nowNs();
    if (nowNs < this.#seenNs) this.#current = this.#begin(nowNs);
    this.#seenNs = nowNs;
    return this.#current;
  }

  /** Checks for a step back, and keeps the used marks ahead of the clock. The caller must call this method a few times a second. */
  tick(nowNs: TimeNs): void {
    this.current();
    for (const era of this.#eras) {
      if (era !== this.#current && era.connections === 0) this.#drop(era);
      else era.keep(nowNs);
    }
  }

  /** True while earlier eras still have connections. */
  get hasEarlier(): boolean {
    return this.#eras.size > 1;
  }

  /** The largest distance by which connections' times are ahead of the clock. */
  get aheadNs(): bigint {
    const nowNs = this.#clock.nowNs();
    let aheadNs = 0n;
    for (const { connections, lastNs } of this.#eras)
      if (connections > 0 && lastNs - nowNs > aheadNs) aheadNs = lastNs - nowNs;
    return aheadNs;
  }

  /**
   * Returns whether signed frames have waited for more than a second. Frames wait for the disk, or for a free number of an era.
   */
  isHeld(nowNs: TimeNs): boolean {
    return [...this.#eras].some((era) => era.connections > 0 && era.isHeld(nowNs));
  }

  #begin(nowNs: TimeNs): StreamEra {
    for (const era of this.#eras) if (era.connections === 0) this.#drop(era);
    const era = new StreamEra(this.#begun++, this.#numbers, nowNs);
    this.#eras.add(era);
    return era;
  }

  #drop(era: StreamEra): void {
    this.#eras.delete(era);
    era.end();
  }
}

/**
 * Returns the low bits that the `ts` of a node and thread may have: one number for each era, each with a mark.
 * @throws RangeError when the node's or the thread's number is invalid.
 */
export function markNumbers(node: number, thread: number): number[] {
  if (!isBits(node, NODE_BITS)) throw new RangeError(`node ${node} is not 0 to ${NODE_MAX}`);
  if (!isBits(thread, THREAD_BITS)) throw new RangeError(`thread ${thread} is not 0 to ${THREADS_MAX - 1}`);
  const lowBits = ((node << THREAD_BITS) | thread) << ERA_BITS;
  return Array.from({ length: ERA_NUMBERS }, (_, era) => lowBits | era);
}

/** A period in which `ts` only grows. */
export class StreamEra {
  /** The number of connections that take their `ts` from this era. */
  connections = 0;
  readonly #numbers: EraNumbers;
  #number: number | undefined;
  #lastUpper = 0n;
  /** The latest time that an earlier era may have signed with this era's number. */
  #signedUpper = 0n;
  /** The first and the last failed attempt in a row to find a time for a signed frame; `undefined` after a successful attempt. */
  #held: { sinceNs: bigint; triedNs: bigint } | undefined;

  constructor(
    /** The index of this era among the eras of this process. */
    readonly serial: number,
    numbers: EraNumbers,
    nowNs: TimeNs,
  ) {
    this.#numbers = numbers;
    this.#takeNumber(nowNs);
  }

  /** The last `ts`, without its low bits. */
  get lastNs(): bigint {
    return this.#lastUpper << LOW_BITS;
  }

  /** Returns the `ts` of an unsigned frame. The `ts` is at or after the clock's time, and later than every earlier `ts` of this era. */
  next(nowNs: TimeNs): TimeNs {
    return this.#signedTimeOf(this.#upperAfter(nowNs));
  }

  /** Returns the `ts` of one signed frame. Returns `undefined` while no time may be signed; the caller then tries again soon. */
  nextSigned(nowNs: TimeNs): TimeNs | undefined {
    if (this.#number === undefined) this.#takeNumber(nowNs);
    const next = this.#upperAfter(nowNs);
    const upper = next > this.#signedUpper ? next : this.#signedUpper + 1n;
    if (this.#number === undefined || !this.#numbers.covers(this.#number, upper << LOW_BITS, nowNs)) {
      this.#noteHeldTime(nowNs);
      return undefined;
    }
    this.#held = undefined;
    return this.#signedTimeOf(upper);
  }

  /** Adds a connection of another era that has received times up to `sentUpToNs`. The clock is past `sentUpToNs`. */
  enter(sentUpToNs: bigint): void {
    this.connections++;
    const upper = sentUpToNs >> LOW_BITS;
    if (upper > this.#lastUpper) this.#lastUpper = upper;
  }

  leave(): void {
    this.connections--;
  }

  keep(nowNs: TimeNs): void {
    if (this.#number !== undefined) this.#numbers.keep(this.#number, nowNs);
  }

  isHeld(nowNs: TimeNs): boolean {
    return this.#isTrying(nowNs) && isLongAgo(this.#held!.sinceNs, nowNs);
  }

  /** Returns the era's number to the free numbers. */
  end(): void {
    if (this.#number !== undefined) this.#numbers.giveBack(this.#number);
    this.#number = undefined;
  }

  #noteHeldTime(nowNs: TimeNs): void {
    if (this.#isTrying(nowNs)) this.#held!.triedNs = nowNs;
    else this.#held = { sinceNs: nowNs, triedNs: nowNs };
  }

  #isTrying(nowNs: TimeNs): boolean {
    return this.#held !== undefined && nowNs - this.#held.triedNs <= TRIED_AGAIN_NS_MAX;
  }

  #takeNumber(nowNs: TimeNs): void {
    const taken = this.#numbers.take(nowNs);
    this.#number = taken?.number;
    if (taken !== undefined) this.#signedUpper = taken.usedUpToNs >> LOW_BITS;
  }

  #upperAfter(nowNs: TimeNs): bigint {
    const low = this.#numbers.lowBitsOf(this.#number);
    const upper = nowNs >> LOW_BITS;
    const next = ((upper << LOW_BITS) | low) < nowNs ? upper + 1n : upper;
    return next > this.#lastUpper ? next : this.#lastUpper + 1n;
  }

  #signedTimeOf(upper: bigint): TimeNs {
    this.#lastUpper = upper;
    return ((upper << LOW_BITS) | this.#numbers.lowBitsOf(this.#number)) as TimeNs;
  }
}

/** The numbers of the eras of one node and thread. Each number has a mark. */
class EraNumbers {
  readonly #marks: readonly WrittenMark[];
  readonly #lowBits: readonly bigint[];
  readonly #taken = new Set<number>();

  constructor(all: readonly number[], nowNs: TimeNs, placeOf: StreamTimesOptions['placeOf']) {
    this.#marks = all.map((bits) => new WrittenMark(placeOf(bits), nowNs));
    this.#lowBits = all.map(BigInt);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#marks.map((mark) => mark.settled()));
  }

  /**
   * Takes the number with the earliest mark, if the clock is past that mark. The mark moves immediately, so that the next era
   * takes another number.
   */
  take(nowNs: TimeNs): { readonly number: number; readonly usedUpToNs: bigint } | undefined {
    const number = this.#earliestFree(nowNs);
    if (number === undefined) return undefined;
    const mark = this.#marks[number]!;
    const usedUpToNs = mark.reachNs;
    this.#taken.add(number);
    mark.covers(nowNs, nowNs);
    return { number, usedUpToNs };
  }

  giveBack(number: number): void {
    this.#taken.delete(number);
  }

  covers(number: number, upperNs: bigint, nowNs: TimeNs): boolean {
    return this.#marks[number]!.covers(upperNs | this.#lowBits[number]!, nowNs);
  }

  keep(number: number, nowNs: TimeNs): void {
    this.#marks[number]!.keep(nowNs);
  }

  lowBitsOf(number = 0): bigint {
    return this.#lowBits[number]!;
  }

  #earliestFree(nowNs: TimeNs): number | undefined {
    let best: number | undefined;
    this.#marks.forEach(({ reachNs }, number) => {
      if (this.#taken.has(number) || reachNs >= nowNs) return;
      if (best === undefined || reachNs < this.#marks[best]!.reachNs) best = number;
    });
    return best;
  }
}

function isBits(value: number, bits: number): boolean {
  return Number.isInteger(value) && value >= 0 && value < 1 << bits;
}
