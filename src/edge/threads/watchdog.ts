/** A turn of a thread's event loop shows at least this often. */
export const BEAT_MS = 200;

/** What a thread and the one that watches it share: one `Int32`. */
export function createLivenessMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
}

/** The end of the thread that lives. */
export class LivenessSignal {
  readonly #beats: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#beats = new Int32Array(memory);
  }

  /** Starts to beat with the turns of the event loop; does not keep the thread alive. */
  start(): void {
    setInterval(() => this.beat(), BEAT_MS).unref();
  }

  /** Whoever lets the event loop wait on purpose calls this every {@link BEAT_MS}. */
  beat(): void {
    Atomics.add(this.#beats, 0, 1);
  }
}

/**
 * The deadline is counted in this many ticks of a timer, so that a process that was stopped for a while as a whole, or
 * whose own thread stood still, does not take the thread for hung.
 */
const TICKS = 10;

/** The end of the thread that watches. */
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

  /** Starts to call {@link tick}, until {@link stop}; does not keep the process alive. Called again, it begins anew. */
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
