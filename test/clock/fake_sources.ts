import type { ClockSources } from '../../src/clock/clock.js';
import { NS_PER_MS } from '../../src/model/time.js';

/** The wall clock at the start: 2026-03-02 14:00:00 UTC. */
const WALL_NS = 1_772_460_000_000_000_000n;

/** The clocks of a machine. Each read takes 1 µs, and a test steps the wall clock. */
export class FakeSources implements ClockSources {
  #elapsedNs = 0n;
  /** The sum of the steps of the wall clock. */
  steppedNs = 0n;

  wallMs(): number {
    this.pass(1_000n);
    return Number(this.wallNs / NS_PER_MS);
  }

  monotonicNs(): bigint {
    this.pass(1_000n);
    return this.#elapsedNs;
  }

  /** The exact wall clock. */
  get wallNs(): bigint {
    return WALL_NS + this.#elapsedNs + this.steppedNs;
  }

  get elapsedNs(): bigint {
    return this.#elapsedNs;
  }

  pass(durationNs: bigint): void {
    this.#elapsedNs += durationNs;
  }
}
