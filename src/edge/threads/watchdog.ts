/** The longest time between two beats of a thread whose event loop runs. */
export const BEAT_MS = 200;

/** Returns the memory that a thread shares with the thread that watches it: one `Int32`. */
export function createLivenessMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
}

/** The side of the watched thread. */
export class LivenessSignal {
  readonly #beats: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#beats = new Int32Array(memory);
  }

  /** Starts to beat with the turns of the event loop. The timer does not keep the thread alive. */
  start(): void {
    setInterval(() => this.beat(), BEAT_MS).unref();
  }

  /** Beats once. Code that blocks the event loop on purpose calls this function every {@link BEAT_MS}. */
  beat(): void {
    Atomics.add(this.#beats, 0, 1);
  }
}

/**
 * The number of timer ticks in which the deadline is counted. The deadline is counted in ticks because the whole process or
 * the watching thread may have been stopped for a while. In that case the watched thread must not count as hung.
 */
const TICKS = 10;

/** The side of the watching thread. */
export class Watchdog {
  readonly #beats: Int32Array;
  readonly #onSilent: () => void;
  #beatsSeen = 0;
  #silentTicks = 0;
  #ticker: NodeJS.Timeout | undefined;

  /** @param onSilent called once, when no beat came for the whole time limit */
  constructor(memory: SharedArrayBuffer, onSilent: () => void) {
    this.#beats = new Int32Array(memory);
    this.#onSilent = onSilent;
  }

  /**
   * Starts to call {@link tick} at an interval, until {@link stop}. The timer does not keep the process alive. A second call
   * begins the time limit again.
   */
  start(silenceMsMax: number): void {
    this.stop();
    this.#silentTicks = 0;
    this.#ticker = setInterval(() => this.tick(), silenceMsMax / TICKS).unref();
  }

  stop(): void {
    clearInterval(this.#ticker);
  }

  tick(): void {
    const beats = Atomics.load(this.#beats, 0);
    this.#silentTicks = beats === this.#beatsSeen ? this.#silentTicks + 1 : 0;
    this.#beatsSeen = beats;
    if (this.#silentTicks < TICKS) return;
    this.stop();
    this.#onSilent();
  }
}
