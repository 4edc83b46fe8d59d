import { intervalAt } from '../../wire/resolution.js';
import type { Resolution } from '../../wire/rest_values.js';
import { type GapTimes, gapText } from './connection_state.js';

/** A mark at a candle that may lack prices. */
export interface GapMark {
  /** UNIX seconds at the start of the candle. */
  readonly time: number;
  /** Such as `missed 1.2 s until 01:02:03 UTC`; with several gaps in the candle, one line for each. */
  readonly text: string;
}

/** The largest number of gaps that are remembered. The oldest are forgotten first. */
const GAPS_MAX = 50;
const NS_PER_SECOND = 1_000_000_000n;

/** Parts of the stream that did not arrive, until the candles of the service were read, which have the prices of these parts. */
export class UnfilledGaps {
  #gaps: readonly GapTimes[] = [];

  add({ fromNs, toNs }: GapTimes): void {
    this.#gaps = [...this.#gaps, { fromNs, toNs }].slice(-GAPS_MAX);
  }

  /**
   * Begins to read candles.
   * @returns a function that removes the gaps from before this call, because the candles have their prices
   */
  fill(): () => void {
    const known = new Set(this.#gaps);
    return () => {
      this.#gaps = this.#gaps.filter((gap) => !known.has(gap));
    };
  }

  clear(): void {
    this.#gaps = [];
  }

  /** Returns the marks at the candles in which gaps begin and end, in the order of time. Candles between them are empty anyway. */
  marks(resolution: Resolution): GapMark[] {
    const texts = new Map<number, string[]>();
    for (const gap of this.#gaps) {
      const times = [gap.fromNs, gap.toNs].map(
        (ns) => intervalAt(resolution, Number(ns / NS_PER_SECOND)).startS,
      );
      for (const time of new Set(times))
        texts.set(time, [...(texts.get(time) ?? []), `missed ${gapText(gap)}`]);
    }
    return [...texts].sort(([a], [b]) => a - b).map(([time, lines]) => ({ time, text: lines.join('\n') }));
  }
}
