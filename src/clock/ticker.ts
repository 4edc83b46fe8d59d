import { type Clock, NS_PER_MS, nextMultiple, type TimeNs } from '../model/time.js';
import { PreciseTimer } from './precise_timer.js';

/** The shortest interval between ticks. Only a message that arrives when a tick is due shortens the interval. */
const TICK_NS_MIN = NS_PER_MS;
/** The longest interval between ticks. With this limit, parts notice changes that have no due time, such as a step back of the clock. */
const TICK_NS_MAX = 250n * NS_PER_MS;

/** A part of the service that has work to do at certain times. */
export interface Ticked {
  /** Does the work that is due. */
  tick(nowNs: TimeNs): void;
  /** Returns the time of the next tick that the part needs; `undefined` if a tick within 250 ms is enough. Called after each tick. */
  nextDueNs?(nowNs: TimeNs): bigint | undefined;
}

/** The timer that calls the {@link Ticker}. */
export interface TickTimer {
  /** Sets the time of the next call, and replaces the earlier time. */
  at(timeNs: bigint): void;
  /**
   * Sets the time of the next call like {@link at}, for a call that may be some milliseconds late. Such a call costs half as much.
   */
  roughlyAt(timeNs: bigint): void;
  /** Returns the largest delay of a call since the last call of this method. */
  takeLateNsMax(): bigint;
  stop(): Promise<void>;
}

/**
 * Ticks all parts of one thread together when one part is due. Ticks rarely while no part is due, because each wake-up of an idle core
 * costs 0.1 ms of CPU time.
 */
export class Ticker {
  readonly #clock: Clock;
  #parts: readonly Ticked[] = [];
  #timer: TickTimer | undefined;
  #nextNs = 0n;
  #tickedNs = 0n;
  #stopped: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ticks these parts now, and later whenever a part is due, until {@link stop}. */
  start(parts: readonly Ticked[], newTimer: (onTime: () => void) => TickTimer = this.#preciseTimer): void {
    this.#parts = parts;
    this.#timer = newTimer(() => this.#run(this.#clock.nowNs()));
    this.#run(this.#clock.nowNs());
  }

  /** Requests a tick no later than this time, because an event has changed the time at which a part needs a tick. */
  noLaterThan(timeNs: bigint): void {
    if (timeNs < this.#nextNs) this.#setNext(timeNs);
  }

  /**
   * Ticks if a part is due, or after a step back of the clock. Called before each message. The event loop handles all messages that
   * arrived together in one turn. A tick that becomes due during the turn must not wait until the end of the turn.
   */
  runIfDue(): void {
    const nowNs = this.#clock.nowNs();
    if (nowNs >= this.#nextNs || nowNs < this.#tickedNs) this.#run(nowNs);
  }

  /**
   * Returns the largest delay of a tick by the timer since the last call of this method. This delay is the delay of the event
   * loop.
   */
  takeLateNsMax(): bigint {
    return this.#timer?.takeLateNsMax() ?? 0n;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#timer?.stop() ?? Promise.resolve();
    return this.#stopped;
  }

  #run(nowNs: TimeNs): void {
    // A part that requests a time during its tick requests that time again after the tick.
    this.#nextNs = nowNs;
    this.#tickedNs = nowNs;
    for (const part of this.#parts) part.tick(nowNs);
    const latestNs = nowNs + TICK_NS_MAX;
    let nextNs = latestNs;
    for (const part of this.#parts) {
      const dueNs = part.nextDueNs?.(nowNs);
      if (dueNs !== undefined && dueNs < nextNs) nextNs = dueNs;
    }
    if (nextNs === latestNs) {
      this.#nextNs = latestNs;
      this.#timer?.roughlyAt(latestNs);
      return;
    }
    const soonestNs = nextMultiple(nowNs, TICK_NS_MIN);
    this.#setNext(nextNs > soonestNs ? nextNs : soonestNs);
  }

  #setNext(timeNs: bigint): void {
    this.#nextNs = timeNs;
    this.#timer?.at(timeNs);
  }

  readonly #preciseTimer = (onTime: () => void) => new PreciseTimer(this.#clock, onTime);
}
