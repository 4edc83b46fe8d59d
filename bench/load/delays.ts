import {
  build,
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  type Histogram,
} from 'hdr-histogram-js';

const START_MS = performance.timeOrigin;

/** The delays of a process or a run, with three significant digits. A delay is at least 1 µs. */
export class Delays {
  readonly #histogram: Histogram;

  constructor(histogram?: Histogram) {
    this.#histogram =
      histogram ??
      build({ lowestDiscernibleValue: 1, numberOfSignificantValueDigits: 3, useWebAssembly: false });
  }

  static decode(text: string): Delays {
    return new Delays(decodeFromCompressedBase64(text, 32, false) as Histogram);
  }

  get count(): number {
    return this.#histogram.totalCount;
  }

  recordMicros(micros: number): void {
    this.#histogram.recordValue(micros < 1 ? 1 : Math.round(micros));
  }

  add(other: Delays): void {
    this.#histogram.add(other.#histogram);
  }

  /** @returns milliseconds; `undefined` without delays */
  percentileMs(percent: number): number | undefined {
    return this.count === 0 ? undefined : this.#histogram.getValueAtPercentile(percent) / 1_000;
  }

  get maxMs(): number | undefined {
    return this.count === 0 ? undefined : this.#histogram.maxValue / 1_000;
  }

  /** Returns the delays as text, and clears them. */
  take(): string {
    const text = encodeIntoCompressedBase64(this.#histogram);
    this.#histogram.reset();
    return text;
  }
}

/** Returns the current time in microseconds since 1970, from a clock that never steps. */
export function nowMicros(): number {
  return (START_MS + performance.now()) * 1_000;
}
