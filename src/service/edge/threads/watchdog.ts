/** The longest time between two beats of a thread whose event loop runs. */
const BEAT_MS = 250;

/** The indexes of the two counts in the memory. */
const BEATS = 0;
const WORK = 1;

/** Returns the memory that the watched thread and the watching thread share: two `Int32`. */
export function createLivenessMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
}

/** The side of the watched thread. */
export class LivenessSignal {
  readonly #counts: Int32Array;
  #timer: NodeJS.Timeout | undefined;

  constructor(memory: SharedArrayBuffer) {
    this.#counts = new Int32Array(memory);
  }

  /** Starts to beat at each turn of the event loop, until {@link leave}. The timer does not keep the thread alive. */
  start(): void {
    this.#timer = setInterval(() => this.beat(), BEAT_MS).unref();
  }

  /**
   * Stops the timer of the beats, because each wake-up of an idle thread takes 0.1 ms of CPU time. From now on, the caller must call {@link
   * beat} equally often.
   */
  leave(): void {
    clearInterval(this.#timer);
  }

  /** Counts one beat. */
  beat(): void {
    Atomics.add(this.#counts, BEATS, 1);
  }

  /** Counts a message or request. A turn with many messages takes long, but the thread does not hang. */
  worked(): void {
    Atomics.add(this.#counts, WORK, 1);
  }
}

/**
 * The number of timer ticks in the time limit. The watchdog counts ticks, because the whole process or the watching thread may have
 * stopped for a while. In that case, the watched thread must not count as hung.
 */
const TICKS = 5;

/** The side of the watching thread. */
export class Watchdog {
  readonly #counts: Int32Array;
  readonly #onSilent: () => void;
  #seen = '';
  #silentTicks = 0;
  #ticker: NodeJS.Timeout | undefined;

  /** @param onSilent called once when the thread hangs: it has sent no beat and done no work during the whole time limit */
  constructor(memory: SharedArrayBuffer, onSilent: () => void) {
    this.#counts = new Int32Array(memory);
    this.#onSilent = onSilent;
  }

  /**
   * Starts to call {@link tick} at an interval, until {@link stop}. The timer does not keep the process alive. A second call begins the
   * time limit again.
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
    const seen = `${Atomics.load(this.#counts, BEATS)} ${Atomics.load(this.#counts, WORK)}`;
    this.#silentTicks = seen === this.#seen ? this.#silentTicks + 1 : 0;
    this.#seen = seen;
    if (this.#silentTicks < TICKS) return;
    this.stop();
    this.#onSilent();
  }
}
