import { Delays, nowMicros } from './delays.js';
import { NO_COUNTS } from './jobs.js';

/** The interval of a sending timer in milliseconds. The events of a step are sent together, each with its own intended time. */
export const STEP_MS = 1;
/** The longest time for which an update waits for its frame, and a request for its answer. */
export const WAIT_MICROS_MAX = 10_000_000;

/**
 * Events at a constant rate, even while the service is slow. The first event is due at the first call of `next`. A delay begins at the intended time of an
 * event, so a slow service cannot hide its delay by slowing the sender down.
 */
export class PacedEvents {
  readonly #delays = new Delays();
  readonly #eventsPerSecond: number;
  #startMicros: number | undefined;
  #counts = { ...NO_COUNTS };
  /** The intended time of the first event that counts. */
  #sinceMicros = Number.POSITIVE_INFINITY;
  /** The number of events that were due so far. */
  made = 0;

  constructor(eventsPerSecond: number) {
    this.#eventsPerSecond = eventsPerSecond;
  }

  /** Returns the intended time of the next event; `undefined` if the event is not due yet. */
  next(micros: number): number | undefined {
    this.#startMicros ??= micros;
    const intended = this.intendedOf(this.made);
    if (intended > micros) return undefined;
    this.made++;
    return intended;
  }

  /** Returns the intended time of an event. @param number the number of events before it */
  intendedOf(number: number): number {
    return (this.#startMicros ?? 0) + (number / this.#eventsPerSecond) * 1e6;
  }

  /** Counts an event with this intended time. An event that is done or lost has a delay. */
  count(outcome: 'sent' | 'done' | 'refused' | 'lost', intended: number): void {
    if (intended < this.#sinceMicros) return;
    this.#counts[outcome]++;
    if (outcome === 'done' || outcome === 'lost') this.#delays.recordMicros(nowMicros() - intended);
  }

  countClosed(): void {
    this.#counts.closed++;
  }

  /** Begins the counts. Only ended connections of the time before count. */
  begin(): void {
    this.#sinceMicros = nowMicros();
    this.#counts = { ...NO_COUNTS, closed: this.#counts.closed };
  }

  /** Returns the counts since the last call. */
  take() {
    const counts = this.#counts;
    this.#counts = { ...NO_COUNTS };
    return { ...counts, delays: this.#delays.take() };
  }
}
