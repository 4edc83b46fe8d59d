import { type Clock, type JumpWitness, NS_PER_MS, NS_PER_SECOND, type TimeNs } from '../model/time.js';

/** The two clocks of the system from which the time is read. */
export interface ClockSources {
  /** Returns the wall clock, cut off to the millisecond. */
  wallMs(): number;
  monotonicNs(): bigint;
}

const SYSTEM: ClockSources = { wallMs: () => Date.now(), monotonicNs: () => process.hrtime.bigint() };

/** The largest difference that is corrected in small steps; a larger one is a jump. */
const JUMP_NS = NS_PER_SECOND;
/** The time after which a jump is accepted, if the wall clock has kept to it until then. */
const BELIEVED_AFTER_NS = 10n * NS_PER_SECOND;
/** Small steps change the clock's rate by at most a tenth, so that the largest difference is corrected in 10 s. */
const SLEW_DIVISOR = 10n;
/** The shortest interval between comparisons with the wall clock. */
const COMPARE_INTERVAL_NS = NS_PER_MS;

/**
 * Creates a clock that runs on the monotonic clock and follows the wall clock. It corrects a difference of up to {@link JUMP_NS}
 * in small steps and never goes back for that. It follows a jump at once after {@link BELIEVED_AFTER_NS} and when the witness
 * agrees, if there is one; and not at all when the wall clock comes back before. Only then can its time go back. Two of these clocks, also on different threads, agree within a
 * few milliseconds except just when a jump is accepted.
 */
export function systemClock(sources: ClockSources = SYSTEM): Clock {
  return new FollowingClock(sources);
}

/** The place to which the wall clock has jumped. */
interface Jump {
  /** The wall clock's time minus the monotonic clock's. */
  readonly offsetNs: bigint;
  /** Monotonic. */
  readonly sinceNs: bigint;
}

class FollowingClock implements Clock {
  readonly #sources: ClockSources;
  /** This clock's time minus the monotonic clock's. */
  #offsetNs: bigint;
  /** Monotonic. */
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
      this.#offsetNs += within(differenceNs, elapsedNs / SLEW_DIVISOR);
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

/** Returns how far the offset is below the range (positive), above it (negative), or 0 inside. */
function surelyBetween(lowestNs: bigint, highestNs: bigint, offsetNs: bigint): bigint {
  if (offsetNs < lowestNs) return lowestNs - offsetNs;
  return offsetNs > highestNs ? highestNs - offsetNs : 0n;
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function within(value: bigint, limit: bigint): bigint {
  if (value > limit) return limit;
  return value < -limit ? -limit : value;
}

/** The precision with which the start of a millisecond is to be found; a thread that keeps its core finds it within 1 µs. */
const FOUND_WITHIN_NS_MAX = 20_000n;
/** The number of attempts; on a machine so busy that the thread never keeps its core, the best of them is used. */
const ATTEMPTS_MAX = 10;

/** Waits, normally for a millisecond, until the wall clock shows the next one: then the offset is known exactly. */
function offsetAtMillisecond(sources: ClockSources): bigint {
  let best = findMillisecond(sources);
  for (let attempt = 1; best.withinNs > FOUND_WITHIN_NS_MAX && attempt < ATTEMPTS_MAX; attempt++) {
    const next = findMillisecond(sources);
    if (next.withinNs < best.withinNs) best = next;
  }
  return best.offsetNs;
}

/**
 * @returns `withinNs`: the time around the start of the millisecond in which the clock was not read; a thread may lose its core
 * meanwhile.
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
