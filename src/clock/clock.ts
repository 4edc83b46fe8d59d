import { type Clock, type JumpWitness, NS_PER_MS, NS_PER_SECOND, type TimeNs } from '../model/time.js';

/** The two system clocks. */
export interface ClockSources {
  /** Returns the wall clock's time, truncated to milliseconds. */
  wallMs(): number;
  monotonicNs(): bigint;
}

const SYSTEM: ClockSources = { wallMs: () => Date.now(), monotonicNs: () => process.hrtime.bigint() };

/** The largest difference that the clock corrects in small steps. A larger difference is a jump. */
const JUMP_NS = NS_PER_SECOND;
/** The time after which the clock accepts a jump, unless the wall clock jumps again before then. */
const BELIEVED_AFTER_NS = 10n * NS_PER_SECOND;
/**
 * The divisor for small steps. Small steps change the clock's rate by at most a tenth, so that the clock corrects the largest
 * difference in 10 s.
 */
const SLEW_DIVISOR = 10n;
/** The shortest interval between comparisons with the wall clock. */
const COMPARE_INTERVAL_NS = NS_PER_MS;

/**
 * Creates a clock that runs on the monotonic clock and follows the wall clock.
 *
 * The clock corrects a difference of up to {@link JUMP_NS} in small steps, and never goes back for such a difference. The clock
 * follows a jump in one step after {@link BELIEVED_AFTER_NS}, unless the wall clock has returned by then. If a witness is set, the
 * witness must also agree. Only such a jump can set the clock back.
 *
 * Two of these clocks, also on different threads, agree within a few milliseconds, except while they accept a jump.
 */
export function systemClock(sources: ClockSources = SYSTEM): Clock {
  return new FollowingClock(sources);
}

/** A jump of the wall clock. */
interface Jump {
  /** The wall clock's time minus the monotonic clock's time. */
  readonly offsetNs: bigint;
  /** The monotonic time of the jump's first comparison. */
  readonly sinceNs: bigint;
}

class FollowingClock implements Clock {
  readonly #sources: ClockSources;
  /** This clock's time minus the monotonic clock's time. */
  #offsetNs: bigint;
  /** The monotonic time of the last comparison. */
  #comparedNs: bigint;
  #lastNs = 0n;
  #jump: Jump | undefined;
  #jumps = 0;
  #witness: JumpWitness = () => true;

  constructor(sources: ClockSources) {
    this.#sources = sources;
    this.#offsetNs = offsetAtMillisecond(sources);
    this.#comparedNs = sources.monotonicNs();
  }

  nowNs(): TimeNs {
    const monotonicNs = this.#sources.monotonicNs();
    if (monotonicNs - this.#comparedNs >= COMPARE_INTERVAL_NS) this.#compare(monotonicNs);
    const timeNs = monotonicNs + this.#offsetNs;
    if (timeNs > this.#lastNs) this.#lastNs = timeNs;
    return this.#lastNs as TimeNs;
  }

  get jumpNs(): bigint {
    return this.#jump === undefined ? 0n : this.#jump.offsetNs - this.#offsetNs;
  }

  get jumps(): number {
    return this.#jumps;
  }

  heed(witness: JumpWitness): void {
    this.#witness = witness;
  }

  #compare(beforeNs: bigint): void {
    const wallNs = BigInt(this.#sources.wallMs()) * NS_PER_MS;
    const afterNs = this.#sources.monotonicNs();
    const elapsedNs = beforeNs - this.#comparedNs;
    this.#comparedNs = beforeNs;
    const differenceNs = surelyBetween(wallNs - afterNs, wallNs + NS_PER_MS - beforeNs, this.#offsetNs);
    if (absolute(differenceNs) <= JUMP_NS) {
      this.#jump = undefined;
      this.#offsetNs += clamped(differenceNs, elapsedNs / SLEW_DIVISOR);
      return;
    }
    const offsetNs = wallNs - afterNs;
    if (this.#jump === undefined || absolute(offsetNs - this.#jump.offsetNs) > JUMP_NS) {
      this.#jump = { offsetNs, sinceNs: beforeNs };
      this.#jumps++;
    }
    if (beforeNs - this.#jump.sinceNs < BELIEVED_AFTER_NS || !this.#witness(this.jumpNs)) return;
    this.#jump = undefined;
    this.#offsetNs = offsetAtMillisecond(this.#sources);
    this.#lastNs = 0n;
  }
}

/**
 * Returns the difference between the offset and the range: positive for an offset below the range, negative for an offset above,
 * 0 inside.
 */
function surelyBetween(lowestNs: bigint, highestNs: bigint, offsetNs: bigint): bigint {
  if (offsetNs < lowestNs) return lowestNs - offsetNs;
  return offsetNs > highestNs ? highestNs - offsetNs : 0n;
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function clamped(value: bigint, limit: bigint): bigint {
  if (value > limit) return limit;
  return value < -limit ? -limit : value;
}

/** The required precision of the start of a millisecond. Without an interruption, a thread finds the start within 1 µs. */
const FOUND_WITHIN_NS_MAX = 20_000n;
/** The largest number of attempts. If the machine is so busy that every attempt is interrupted, the best attempt counts. */
const ATTEMPTS_MAX = 10;

/**
 * Waits until the wall clock shows the next millisecond, because the offset is known exactly at that moment. The wait normally takes up
 * to a millisecond.
 */
function offsetAtMillisecond(sources: ClockSources): bigint {
  let best = findMillisecond(sources);
  for (let attempt = 1; best.withinNs > FOUND_WITHIN_NS_MAX && attempt < ATTEMPTS_MAX; attempt++) {
    const next = findMillisecond(sources);
    if (next.withinNs < best.withinNs) best = next;
  }
  return best.offsetNs;
}

/**
 * Finds the start of the next millisecond of the wall clock.
 * @returns `withinNs`: the time between the two readings of the clock around that start. The time is longer if the thread was
 * interrupted.
 */
function findMillisecond(sources: ClockSources) {
  let lastNs = sources.monotonicNs();
  const startMs = sources.wallMs();
  for (;;) {
    const beforeNs = sources.monotonicNs();
    const nowMs = sources.wallMs();
    const afterNs = sources.monotonicNs();
    if (nowMs !== startMs)
      return { offsetNs: BigInt(nowMs) * NS_PER_MS - afterNs, withinNs: afterNs - lastNs };
    lastNs = beforeNs;
  }
}
