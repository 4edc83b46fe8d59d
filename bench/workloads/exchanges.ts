import { LocalExchange } from '../../scripts/load/local_exchange.js';
import { seededRandom } from '../../scripts/load/random.js';
import type { BuiltInKind } from '../../src/sources/sources_schema.js';

/** The exchanges: first three exchanges with markets in dollars, then the exchanges with markets in USDT. */
const EXCHANGES: readonly BuiltInKind[] = ['kraken', 'coinbase', 'bitstamp', 'binance', 'okx'];
const DOLLAR_EXCHANGES = 3;
/** The number of price levels on each side of Bitstamp's order books. The other exchanges send only the best prices. */
const BOOK_LEVELS = 100;
/** The time between two groups of quotes. */
const TURN_MS = 4;
/** The largest relative move of a price between two of its quotes. */
const STEP_MAX = 0.000_05;
const HALF_SPREAD = 0.000_05;
const FIRST_PRICE = 100_000;
const TETHER_PRICE = 1;

/** Local exchanges with quotes of the same assets. Asset 0 is USDT, which converts the markets in USDT. */
export interface Exchanges {
  /** The file of sources. */
  readonly sources: string;
  /** The number of sent quotes. */
  readonly shown: number;
  /** Starts to send quotes with random price moves, one exchange and asset after the other. */
  start(quotesPerSecond: number): void;
  /** Sets the price of one asset at all exchanges. The load no longer includes the asset after this call. */
  show(asset: number, price: number): void;
  stop(): void;
}

/**
 * Opens local exchanges.
 * @param assetsMax the number of assets. Each asset has a market at every exchange, except that USDT has no market in USDT
 */
export async function openExchanges(assetsMax: number): Promise<Exchanges> {
  const stops: (() => void)[] = [];
  const opened: LocalExchange[] = [];
  for (const kind of EXCHANGES) {
    const pairs = Array.from({ length: assetsMax }, (_, asset) => pairOf(kind, asset)).filter(isPair);
    const owner = { teardown: (stop: () => void) => void stops.push(stop) };
    opened.push(await LocalExchange.start(owner, kind, pairs));
  }
  const random = seededRandom(1);
  const prices = Array.from({ length: assetsMax }, (_, asset): number =>
    asset === 0 ? TETHER_PRICE : FIRST_PRICE,
  );
  const left = new Set<number>();
  let timer: NodeJS.Timeout | undefined;
  const showAt = (exchange: LocalExchange, asset: number) => {
    const pair = pairOf(exchange.kind, asset);
    if (!isPair(pair)) return;
    const price = prices[asset]!;
    const sides = [price * (1 - HALF_SPREAD), price * (1 + HALF_SPREAD)].map((side) => side.toFixed(6));
    const levels = exchange.kind === 'bitstamp' ? BOOK_LEVELS : 1;
    exchange.show(pair, sides[0]!, sides[1]!, Date.now(), levels);
    exchanges.shown++;
  };
  const exchanges = {
    sources: sourcesText(opened, assetsMax),
    shown: 0,
    start(quotesPerSecond: number) {
      const moving = prices.map((_, asset) => asset);
      let next = 0;
      let shownMs = performance.now();
      timer = setInterval(() => {
        const dueMs = performance.now() - shownMs;
        const groups = Math.floor((dueMs * quotesPerSecond) / 1_000 / opened.length);
        shownMs += (groups * opened.length * 1_000) / quotesPerSecond;
        for (let i = 0; i < groups; i++) {
          const asset = moving[next++ % moving.length]!;
          if (left.has(asset)) continue;
          if (asset !== 0) prices[asset]! *= 1 + STEP_MAX * (2 * random() - 1);
          for (const exchange of opened) showAt(exchange, asset);
        }
      }, TURN_MS);
    },
    show(asset: number, price: number) {
      left.add(asset);
      prices[asset] = price;
      for (const exchange of opened) showAt(exchange, asset);
    },
    stop() {
      clearInterval(timer);
      for (const stop of stops) stop();
    },
  };
  for (let asset = 0; asset < assetsMax; asset++) for (const exchange of opened) showAt(exchange, asset);
  exchanges.shown = 0;
  return exchanges;
}

function isPair(pair: string | undefined): pair is string {
  return pair !== undefined;
}

function isDollar(kind: BuiltInKind): boolean {
  return EXCHANGES.indexOf(kind) < DOLLAR_EXCHANGES;
}

function pairOf(kind: BuiltInKind, asset: number): string | undefined {
  if (asset === 0) return isDollar(kind) ? 'USDT/USD' : undefined;
  return `C${asset}/${isDollar(kind) ? 'USD' : 'USDT'}`;
}

function sourcesText(opened: readonly LocalExchange[], assetsMax: number): string {
  const inputsOf = (asset: number) =>
    opened.flatMap(({ kind }) => {
      const pair = pairOf(kind, asset);
      return isPair(pair) ? [JSON.stringify(`${kind} ${pair}${isDollar(kind) ? '' : ' * A0'}`)] : [];
    });
  const assets = Array.from(
    { length: assetsMax },
    (_, asset) => `  A${asset}: { from: [${inputsOf(asset)}] }\n`,
  );
  return `sources:
${opened.map(({ kind, definition }) => `  ${kind}: ${definition}\n`).join('')}assets:
${assets.join('')}publish: { every: 500ms, delta_percent: 0.1 }
`;
}
