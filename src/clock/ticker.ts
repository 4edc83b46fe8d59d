import { type Clock, NS_PER_MS, nextMultiple, type TimeNs } from '../model/time.js';
import { PreciseTimer } from './precise_timer.js';

/** Ticks are at least this far apart, unless a message finds one due. */
const TICK_NS_MIN = NS_PER_MS;
/** And at most this far: parts notice then what they wait for without a time, such as a clock that was stepped back. */
const TICK_NS_MAX = 250n * NS_PER_MS;

/** A part of the service that does things at their time. */
export interface Ticked {
  /** Does what is due. */
  tick(nowNs: TimeNs): void;
  /** When it needs the next tick, asked after each; `undefined` when 250 ms are soon enough. */
  nextDueNs?(nowNs: TimeNs): bigint | undefined;
}

/** What calls the ticker at a time. */
export interface TickTimer {
  /** Replaces the time that was set before. */
  at(timeNs: bigint): void;
  /** How late it called at most since the last time that this was asked. */
  takeLateNsMax(): bigint;
  stop(): Promise<void>;
}

/**
 * Ticks the parts of one thread when one of them is due, and all together. While nothing is due it hardly ticks: each wake-up
 * of an idle core costs 0.1 ms of it.
 */
export class Ticker {
  readonly #clock: Clock;
  #parts: readonly Ticked[] = [];
  #timer: TickTimer | undefined;
  #nextNs = 0n;
  #stopped: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ticks these now, and whenever one is due until {@link stop}. */
  start(parts: readonly Ticked[], newTimer: (onTime: () => void) => TickTimer = this.#preciseTimer): void {
    this.#parts = parts;
    this.#timer = newTimer(() => this.#run(this.#clock.nowNs()));
    this.#run(this.#clock.nowNs());
  }

  /** Something has happened for which a part needs a tick at this time, if not before. */
  noLaterThan(timeNs: bigint): void {
    if (timeNs < this.#nextNs) this.#setNext(timeNs);
  }

  /**
   * One turn of the event loop handles all messages that came together. A tick that becomes due meanwhile must not wait for
   * the last of them, so this is called before each message.
   */
  runIfDue(): void {
    const nowNs = this.#clock.nowNs();
    if (nowNs >= this.#nextNs) this.#run(nowNs);
  }

  /** How late a tick by the timer began at most since the last time that this was asked: the delay of the event loop. */
  takeLateNsMax(): bigint {
    return this.#timer?.takeLateNsMax() ?? 0n;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#timer?.stop() ?? Promise.resolve();
    return this.#stopped;
  }

  #run(nowNs: TimeNs): void {
    // Whatever a part asks for during its tick, it says again after it.
    this.#nextNs = nowNs;
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
