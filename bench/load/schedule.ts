/** The interval of a sending timer in milliseconds. The events of a step are sent together, each with its own intended time. */
export const STEP_MS = 1;

/** The intended times of events at a constant rate. The first event is due at the start. */
export class Schedule {
  /** The number of events that were due so far. */
  made = 0;

  constructor(
    readonly startMicros: number,
    readonly eventsPerSecond: number,
  ) {}

  /** Returns the intended time of the next event; `undefined` if the event is not due yet. */
  next(nowMicros: number): number | undefined {
    const intended = this.startMicros + (this.made / this.eventsPerSecond) * 1e6;
    if (intended > nowMicros) return undefined;
    this.made++;
    return intended;
  }
}
