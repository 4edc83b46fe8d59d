import type { MarketEvent } from '../adapters/market.js';
import type { Decision } from '../decision.js';
import type { DecisionTrigger } from '../decision_line.js';
import type { SourcesPlan } from '../plan.js';

/** Counts of one source since the start. */
export interface SourceCounts {
  frames: number;
  characters: number;
  opened: number;
  ended: number;
  /** The number of pairs that the source lacks, and of keys that make it unusable. */
  faults: number;
  /** The time of the last quote, or of the start, in UNIX milliseconds. */
  quotedAtMs: number;
  readonly events: Map<MarketEvent['kind'], number>;
}

/** Counts of one asset since the start. */
export interface AssetCounts {
  readonly decisions: Map<DecisionTrigger, number>;
  /** The number of decisions without a price at the ends of intervals, by reason. */
  readonly withheld: Map<string, number>;
  /** The number of verdicts at the ends of intervals, for each market in order. */
  readonly verdicts: readonly Map<string, number>[];
}

/** Counts the events of a run of sources. */
export class SourceMeter {
  readonly sources: ReadonlyMap<string, SourceCounts>;
  readonly assets: ReadonlyMap<string, AssetCounts>;

  constructor({ sources, assets }: SourcesPlan, nowMs: number) {
    this.sources = new Map(
      [...sources.keys()].map((name) => [
        name,
        { frames: 0, characters: 0, opened: 0, ended: 0, faults: 0, quotedAtMs: nowMs, events: new Map() },
      ]),
    );
    this.assets = new Map(
      assets.map(({ symbol, inputs }) => [
        symbol,
        { decisions: new Map(), withheld: new Map(), verdicts: inputs.map(() => new Map()) },
      ]),
    );
  }

  countFrame(source: string, frame: string, events: readonly MarketEvent[], nowMs: number): void {
    const counts = this.sources.get(source)!;
    counts.frames++;
    counts.characters += frame.length;
    for (const { kind } of events) {
      countKey(counts.events, kind);
      if (kind === 'quote') counts.quotedAtMs = nowMs;
    }
  }

  /** Counts a written decision. */
  countWritten({ asset }: Decision, trigger: DecisionTrigger): void {
    countKey(this.assets.get(asset.symbol)!.decisions, trigger);
  }

  /** Counts the decisions at the end of an interval. */
  countTick(decisions: readonly Decision[]): void {
    for (const { asset, withheld, readings } of decisions) {
      const counts = this.assets.get(asset.symbol)!;
      if (withheld !== undefined) countKey(counts.withheld, withheld);
      readings.forEach(({ verdict }, place) => {
        countKey(counts.verdicts[place]!, verdict);
      });
    }
  }
}

function countKey<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
