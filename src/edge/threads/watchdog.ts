/** The longest time between two beats of a thread whose event loop turns. */
export const BEAT_MS = 200;

/** Returns the memory that a thread shares with the one that watches it: one `Int32`. */
export function createLivenessMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
}

/** The watched thread's end of the memory. */
export class LivenessSignal {
  readonly #beats: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#beats = new Int32Array(memory);
  }

  /** Starts to beat with the turns of the event loop; does not keep the thread alive. */
  start(): void {
    setInterval(() => this.beat(), BEAT_MS).unref();
  }

  /** Beats once. Code that lets the event loop wait on purpose calls this every {@link BEAT_MS}. */
  beat(): void {
    Atomics.add(this.#beats, 0, 1);
  }
}

/**
 * The number of timer ticks in which the deadline is counted. So a process that was stopped as a whole for a while, or whose
 * watching thread stood still, does not take the watched thread for hung.
 */
const TICKS = 10;

/** The watching thread's end of the memory. */
export class Watchdog {
  readonly #beats: Int32Array;
  readonly #onSilent: () => void;
  #beatsSeen = 0;
  #silentTicks = 0;
  #ticker: NodeJS.Timeout | undefined;

  /** @param onSilent called once when no beat came for the whole time */
  constructor(memory: SharedArrayBuffer, onSilent: () => void) {
    this.#beats = new Int32Array(memory);
    this.#onSilent = onSilent;
  }

  /** Starts to call {@link tick}, until {@link stop}; does not keep the process alive. A second call begins again. */
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
