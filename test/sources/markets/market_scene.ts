import type { Test } from 'tap';
import { LocalExchange } from '../../../scripts/load/local_exchange.js';
import type { Clock, TimeNs } from '../../../src/model/time.js';
import type { Decision } from '../../../src/sources/decision.js';
import type { SourceRun } from '../../../src/sources/markets/source_run.js';
import type { BuiltInKind } from '../../../src/sources/sources_schema.js';
import { manualRun } from './manual_run.js';
import { ManualTime, until } from './manual_time.js';

const HALF_SPREAD = 0.0001;

/** The asset A, whose markets are pairs of local exchanges on real sockets. The test decides what each of them shows. */
export class MarketScene {
  readonly time = new ManualTime();
  readonly exchanges = new Map<BuiltInKind, LocalExchange>();
  readonly lines: { readonly timestamp: string }[] = [];
  warnings: readonly string[] = [];
  /** The step of the wall clock. */
  wallStepNs = 0n;
  /** The true price. */
  price = 100;
  published = 0;
  wrong = 0;
  run!: SourceRun;

  /** @param markets the pairs of each exchange, all of the asset A */
  static async start(
    t: Test,
    markets: Partial<Readonly<Record<BuiltInKind, readonly string[]>>>,
    asset = 'min_sources: 2, max_age: 10s',
  ): Promise<MarketScene> {
    const scene = new MarketScene();
    const named = Object.entries(markets) as [BuiltInKind, readonly string[]][];
    for (const [kind, pairs] of named) scene.exchanges.set(kind, await LocalExchange.start(t, kind, pairs));
    const sources = [...scene.exchanges].map(([kind, { definition }]) => `  ${kind}: ${definition}`);
    const from = named.flatMap(([kind, pairs]) => pairs.map((pair) => `${kind} ${pair}`));
    const wall: Clock = { nowNs: () => (scene.time.nowNs() + scene.wallStepNs) as TimeNs };
    const { run, warnings } = manualRun(
      t,
      `sources:\n${sources.join('\n')}\nassets: { A: { from: [${from.join(', ')}], ${asset} } }\npublish: { every: 500ms, delta_percent: 0.01 }`,
      scene.time,
      { clock: wall, steady: scene.time, write: (line, decision) => scene.#judge(line, decision) },
    );
    scene.run = run;
    scene.warnings = warnings;
    await scene.run.open();
    for (const [kind, pairs] of named)
      await until(() => {
        scene.time.advance(100);
        return scene.exchange(kind).asked.length >= pairs.length;
      }, `subscriptions of ${kind}`);
    return scene;
  }

  exchange(kind: BuiltInKind): LocalExchange {
    return this.exchanges.get(kind)!;
  }

  /** Shows a price of a market, with a time of the exchange `ageMs` before now, and waits until it was read. */
  async show(kind: BuiltInKind, pair: string, price: number, ageMs = 0): Promise<void> {
    const [bid, ask] = [price * (1 - HALF_SPREAD), price * (1 + HALF_SPREAD)].map((side) => side.toFixed(8));
    const { frames } = this.run.meter.sources.get(kind)!;
    this.exchange(kind).show(pair, bid!, ask!, Number(this.time.nowNs() / 1_000_000n) - ageMs);
    await until(() => this.run.meter.sources.get(kind)!.frames > frames, `a frame of ${kind}`);
  }

  /** Lets time pass, with heartbeats. */
  pass(ms = 500): void {
    for (const exchange of this.exchanges.values()) exchange.heartbeat();
    this.time.advance(ms);
  }

  get decision(): Decision {
    return this.run.decisions().at(-1)!;
  }

  verdicts(): string[] {
    return this.decision.readings.map(({ verdict }) => verdict);
  }

  #judge(line: string, { asset, price }: Decision): void {
    if (asset.symbol !== 'A') return;
    this.lines.push(JSON.parse(line));
    if (price === undefined) return;
    this.published++;
    const off = (Math.abs(Number(price) / 1e18 - this.price) / this.price) * 100;
    // The true price moves by at most 0.1 % before all honest markets have shown it.
    if (off > 0.15) this.wrong++;
  }
}
