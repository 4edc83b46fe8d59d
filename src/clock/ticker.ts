import { type Clock, NS_PER_MS, nextMultiple, type TimeNs } from '../model/time.js';
import { PreciseTimer } from './precise_timer.js';

/** The shortest interval between ticks, unless a message finds one due. */
const TICK_NS_MIN = NS_PER_MS;
/** The longest interval between ticks: parts then notice what has no time of its own, such as a clock that was stepped back. */
const TICK_NS_MAX = 250n * NS_PER_MS;

/** A part of the service that has work to do at certain times. */
export interface Ticked {
  /** Does the work that is due. */
  tick(nowNs: TimeNs): void;
  /** Returns the time of the next tick that the part needs; called after each tick. `undefined` when 250 ms are soon enough. */
  nextDueNs?(nowNs: TimeNs): bigint | undefined;
}

/** The timer that calls the ticker. */
export interface TickTimer {
  /** Sets the time, and replaces the one set before. */
  at(timeNs: bigint): void;
  /** Returns the largest delay of a call since the last call of this method. */
  takeLateNsMax(): bigint;
  stop(): Promise<void>;
}

/**
 * Ticks the parts of one thread, all together, when one of them is due. Hardly ticks while nothing is due: each wake-up of an
 * idle core costs 0.1 ms of CPU time.
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

  /** Ticks these parts now, and whenever one is due until {@link stop}. */
  start(parts: readonly Ticked[], newTimer: (onTime: () => void) => TickTimer = this.#preciseTimer): void {
    this.#parts = parts;
    this.#timer = newTimer(() => this.#run(this.#clock.nowNs()));
    this.#run(this.#clock.nowNs());
  }

  /** Requests a tick at this time at the latest: something has happened for which a part needs it. */
  noLaterThan(timeNs: bigint): void {
    if (timeNs < this.#nextNs) this.#setNext(timeNs);
  }

  /**
   * Ticks if a part is due, or the clock was stepped back; called before each message. The event loop handles all messages that came
   * together in one turn, and a tick that becomes due meanwhile must not wait for the last of them.
   */
  runIfDue(): void {
    const nowNs = this.#clock.nowNs();
    if (nowNs >= this.#nextNs || nowNs < this.#tickedNs) this.#run(nowNs);
  }

  /** Returns the largest delay of a tick by the timer since the last call of this method: the delay of the event loop. */
  takeLateNsMax(): bigint {
    return this.#timer?.takeLateNsMax() ?? 0n;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#timer?.stop() ?? Promise.resolve();
    return this.#stopped;
  }

  #run(nowNs: TimeNs): void {
    // A part that asks for a time during its tick asks for it again after the tick.
    this.#nextNs = nowNs;
    this.#tickedNs = nowNs;
    for (const part of this.#parts) part.tick(nowNs);
    let nextNs = nowNs + TICK_NS_MAX;
    for (const part of this.#parts) {
      const dueNs = part.nextDueNs?.(nowNs);
      if (dueNs !== undefined && dueNs < nextNs) nextNs = dueNs;
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
