import type { Test } from 'tap';
import { LocalExchange } from '../../../scripts/load/local_exchange.js';
import type { Decision } from '../../../src/sources/decision.js';
import type { SourceRun, SourceRunOptions } from '../../../src/sources/markets/source_run.js';
import type { BuiltInKind } from '../../../src/sources/sources_schema.js';
import { manualRun } from './manual_run.js';
import { ManualTime, until } from './manual_time.js';

const DOLLAR: readonly BuiltInKind[] = ['kraken', 'coinbase', 'bitstamp'];
const TETHER: readonly BuiltInKind[] = ['binance', 'okx', 'bybit'];
const ALL = [...DOLLAR, ...TETHER];

/** Half of the spread that local exchanges show, as a share of the price. */
const HALF_SPREAD = 0.0001;

/** Six local exchanges, and a run of sources that reads them over real sockets on the test's clock. */
export class TradingFloor {
  readonly time = new ManualTime();
  readonly exchanges = new Map<BuiltInKind, LocalExchange>();
  readonly lines: string[] = [];
  warnings: readonly string[] = [];
  /** The exchanges that report a wrong price, or the true price too late. */
  readonly dishonest = new Set<BuiltInKind>();
  /** The published prices outside the quotes of the honest exchanges. */
  readonly wrong: string[] = [];
  published = 0;
  withheld = 0;
  /** The largest distance between a published price and the true prices, in percent. */
  furthest = 0;
  run!: SourceRun;
  /** The allowed relative error of a published price. */
  slack = HALF_SPREAD;
  /** The price of one USDT in dollars. */
  tether = 1;
  price = 100_000;
  /** The true price of the previous step; exchanges change their prices one after another. */
  #before = this.price;

  static async start(t: Test, from: readonly BuiltInKind[] = ALL): Promise<TradingFloor> {
    const floor = new TradingFloor();
    for (const kind of new Set([...from, ...DOLLAR])) {
      const pairs = DOLLAR.includes(kind) ? ['BTC/USD', 'USDT/USD', 'ETH/USD'] : ['BTC/USDT', 'ETH/USDT'];
      floor.exchanges.set(kind, await LocalExchange.start(t, kind, pairs));
    }
    const sources = [...floor.exchanges].map(([kind, { definition }]) => `  ${kind}: ${definition}`);
    const inputs = from.map((kind) =>
      DOLLAR.includes(kind) ? `${kind} BTC/USD` : `"${kind} BTC/USDT * USDTUSD"`,
    );
    const text = `
sources:
${sources.join('\n')}
assets:
  USDTUSD: { from: [${DOLLAR.map((kind) => `${kind} USDT/USD`).join(', ')}], bounds: [0.5, 1.5], publish: false, max_age: 5s }
  BTCUSD: { from: [${inputs.join(', ')}], max_age: 5s, max_spread_percent: 0.5 }
publish: { every: 500ms, delta_percent: 0.01 }
`;
    const write: SourceRunOptions['write'] = (line, decision) => floor.#judge(line, decision);
    const { run, warnings } = manualRun(t, text, floor.time, { write });
    floor.run = run;
    floor.warnings = warnings;
    floor.showAll();
    await floor.run.open();
    const exchanges = [...floor.exchanges.values()];
    await until(() => exchanges.every(({ asked }) => asked.length > 0), 'subscriptions');
    // Bitstamp accepts one pair per message, with a pause between messages.
    floor.time.advance(200);
    await floor.settle();
    floor.published = 0;
    floor.withheld = 0;
    floor.furthest = 0;
    return floor;
  }

  exchange(kind: BuiltInKind): LocalExchange {
    return this.exchanges.get(kind)!;
  }

  /** Sets the true prices at all honest exchanges. */
  showAll(): void {
    for (const kind of this.exchanges.keys()) if (!this.dishonest.has(kind)) this.show(kind);
  }

  /** Sets the quote of one exchange: `factor` times the true price, with a timestamp `lateMs` before the current time. */
  show(kind: BuiltInKind, factor = 1, lateMs = 0): void {
    const exchange = this.exchange(kind);
    const atMs = Number(this.time.nowNs() / 1_000_000n) - lateMs;
    const inTether = TETHER.includes(kind);
    const middle = (this.price / (inTether ? this.tether : 1)) * factor;
    const sides = (value: number) =>
      [value * (1 - HALF_SPREAD), value * (1 + HALF_SPREAD)].map((side) => side.toFixed(8)) as [
        string,
        string,
      ];
    if (inTether) exchange.show('BTC/USDT', ...sides(middle), atMs);
    else {
      exchange.show('USDT/USD', ...sides(this.tether * factor), atMs);
      exchange.show('BTC/USD', ...sides(middle), atMs);
    }
  }

  /** Moves the price, sets it at the honest exchanges, waits until it was read, and advances the time. */
  async step(price: number, ms = 500): Promise<void> {
    this.#before = this.price;
    this.price = price;
    this.showAll();
    await this.settle();
    this.#before = price;
    this.time.advance(ms);
    for (const exchange of this.exchanges.values()) exchange.heartbeat();
  }

  /** Waits until the newest quote of each connected honest exchange was read. */
  async settle(): Promise<void> {
    await until(() => this.#isRead(), 'quotes of honest exchanges');
  }

  /** Advances the time until an exchange has accepted this many connections. */
  async reconnected(kind: BuiltInKind, connections: number): Promise<void> {
    await until(() => {
      this.time.advance(10);
      return this.exchange(kind).connections === connections;
    }, 'a new connection');
  }

  decision(symbol = 'BTCUSD'): Decision {
    return this.run.decisions().find(({ asset }) => asset.symbol === symbol)!;
  }

  verdict(kind: BuiltInKind): string {
    return this.decision().readings.find(({ input }) => input.source === kind)!.verdict;
  }

  #isRead(): boolean {
    return this.decision().readings.every(({ input, quote }) => {
      const kind = input.source as BuiltInKind;
      if (this.dishonest.has(kind)) return true;
      const middle = this.price / (TETHER.includes(kind) ? this.tether : 1);
      const bid = (middle * (1 - HALF_SPREAD)).toFixed(8);
      return quote !== undefined && quote.bid === BigInt(bid.replace('.', '')) * 10n ** 10n;
    });
  }

  #judge(line: string, { asset, price }: Decision): void {
    this.lines.push(line);
    if (asset.symbol !== 'BTCUSD') return;
    if (price === undefined) this.withheld++;
    else {
      this.published++;
      const shown = Number(price) / 1e18;
      // While the exchanges change to the next true price, the price may be between the two.
      const [low, high] = [Math.min(this.price, this.#before), Math.max(this.price, this.#before)];
      this.furthest = Math.max(this.furthest, (100 * (low - shown)) / low, (100 * (shown - high)) / high);
      if (shown < low * (1 - this.slack) || shown > high * (1 + this.slack)) this.wrong.push(line);
    }
  }
}
