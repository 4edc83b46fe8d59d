import { type Clock, NS_PER_SECOND, type TimeNs } from '../model/time.js';

/** Places in the shared memory, as indexes of 64-bit words. */
const OFFSET_NS = 0;
const STEPS = 1;
const JUMP_NS = 2;
const WORDS = 3;

/** The smallest change of the offset that counts as a step. Times may go back after a step. */
const STEP_NS_MIN = NS_PER_SECOND;

/**
 * Shares the time of one thread's clock with other threads. The owner must call `tick` regularly, because the clock sometimes
 * corrects its offset.
 */
export class SharedClock {
  readonly memory = new SharedArrayBuffer(WORDS * BigInt64Array.BYTES_PER_ELEMENT);
  readonly #words = new BigInt64Array(this.memory);
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.tick(clock.nowNs());
  }

  tick(nowNs: TimeNs): void {
    const offsetNs = nowNs - process.hrtime.bigint();
    const changeNs = offsetNs - this.#words[OFFSET_NS]!;
    Atomics.store(this.#words, OFFSET_NS, offsetNs);
    Atomics.store(this.#words, JUMP_NS, this.#clock.jumpNs ?? 0n);
    if (changeNs > STEP_NS_MIN || changeNs < -STEP_NS_MIN) Atomics.add(this.#words, STEPS, 1n);
  }
}

/** Returns the clock of another thread of this process, read from the memory of its {@link SharedClock}. */
export function clockOfThread(memory: SharedArrayBuffer): Clock {
  const words = new BigInt64Array(memory);
  let steps = Atomics.load(words, STEPS);
  let lastNs = 0n;
  return {
    nowNs() {
      const stepsNow = Atomics.load(words, STEPS);
      if (stepsNow !== steps) {
        steps = stepsNow;
        lastNs = 0n;
      }
      const timeNs = process.hrtime.bigint() + Atomics.load(words, OFFSET_NS);
      if (timeNs > lastNs) lastNs = timeNs;
      return lastNs as TimeNs;
    },
    get jumpNs() {
      return Atomics.load(words, JUMP_NS);
    },
  };
}
