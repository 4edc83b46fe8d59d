import { createHash } from 'node:crypto';
import type { AggregationType, SignatureType } from '../../model/asset.js';

/** An asset of the demo: its configuration, and the parameters of its simulated price. */
export interface DemoAsset {
  readonly id: number;
  readonly symbol: string;
  readonly signatureType: SignatureType;
  readonly aggregation: AggregationType;
  readonly calendar: 'none' | 'us_equities' | 'forex' | 'metals';
  /** A plausible real price, as decimal text. The simulated price moves around this price. */
  readonly anchor: string;
  /** The smallest step of the asset's quotes, as decimal text. */
  readonly tick: string;
  /** The largest step of the walk, in millionths of the price. */
  readonly stepPpm: bigint;
}

/**
 * The assets of the demo, ascending by ID. BTCUSD exists in both signature types. All prices are simulated. The anchors are
 * plausible prices.
 */
export const DEMO_CATALOGUE: readonly DemoAsset[] = [
  asset(1, 'BTCUSD', 'none', '95000', '0.01', 150n),
  asset(2, 'ETHUSD', 'none', '3400', '0.01', 200n, 'weighted average'),
  asset(3, 'SOLUSD', 'none', '190', '0.001', 300n),
  asset(4, 'XRPUSD', 'none', '2.2', '0.00001', 300n, 'average'),
  asset(5, 'DOGEUSD', 'none', '0.32', '0.000001', 400n),
  asset(6, 'USDTUSD', 'none', '1', '0.00001', 20n),
  asset(10, 'AAPL', 'us_equities', '230', '0.01', 60n),
  asset(11, 'MSFT', 'us_equities', '430', '0.01', 60n),
  asset(12, 'NVDA', 'us_equities', '140', '0.01', 120n),
  asset(20, 'EURUSD', 'forex', '1.08', '0.00001', 20n),
  asset(21, 'GBPUSD', 'forex', '1.27', '0.00001', 20n),
  asset(22, 'USDJPY', 'forex', '152', '0.001', 20n),
  asset(30, 'XAUUSD', 'metals', '2650', '0.01', 50n),
  asset(31, 'XAGUSD', 'metals', '31', '0.001', 80n),
  starkAsset(40, 'BTCUSDMARK', '95000', '0.01', 150n),
  starkAsset(41, 'DYDXUSD', '1.5', '0.0001', 400n),
  starkAsset(42, 'BTCUSD', '95000', '0.01', 150n),
];

/** The speed of the prices of a signature type. */
interface Pace {
  /** The interval between signatures of the service. */
  readonly clockPeriod: string;
  /** The interval between a publisher's messages, and the number of messages over which it spreads its assets. */
  readonly intervalMs: number;
  readonly shares: number;
}

/**
 * The speed of the prices, by signature type. Together, three publishers send 2 updates a second for each EVM asset, and one update in two
 * seconds for each Stark asset. Making and verifying a Stark signature takes seven times as long as an EVM signature.
 */
export const DEMO_PACE: Readonly<Record<SignatureType, Pace>> = {
  evm: { clockPeriod: '500ms', intervalMs: 500, shares: 3 },
  stark: { clockPeriod: '2s', intervalMs: 3_000, shares: 2 },
};

/** The names and classes of the assets, by their symbols. */
export const DEMO_NAMES: ReadonlyMap<string, readonly [name: string, assetClass: string]> = new Map([
  ['BTCUSD', ['Bitcoin', 'crypto']],
  ['ETHUSD', ['Ether', 'crypto']],
  ['SOLUSD', ['Solana', 'crypto']],
  ['XRPUSD', ['XRP', 'crypto']],
  ['DOGEUSD', ['Dogecoin', 'crypto']],
  ['USDTUSD', ['Tether', 'crypto']],
  ['AAPL', ['Apple', 'equity']],
  ['MSFT', ['Microsoft', 'equity']],
  ['NVDA', ['NVIDIA', 'equity']],
  ['EURUSD', ['Euro', 'forex']],
  ['GBPUSD', ['Pound sterling', 'forex']],
  ['USDJPY', ['US dollar in yen', 'forex']],
  ['XAUUSD', ['Gold', 'metal']],
  ['XAGUSD', ['Silver', 'metal']],
  ['BTCUSDMARK', ['Bitcoin, mark price', 'crypto']],
  ['DYDXUSD', ['dYdX', 'crypto']],
]);

/**
 * Returns the assets of a demo with prices of real markets: the catalogue, and an asset for each symbol that is not in the
 * catalogue. Also returns the streaming IDs of the assets with real prices.
 */
export function liveCatalogue(symbols: readonly string[]): {
  readonly assets: readonly DemoAsset[];
  readonly realIds: ReadonlySet<number>;
} {
  const known = new Set(DEMO_CATALOGUE.filter(isEvm).map(({ symbol }) => symbol));
  const others = symbols.filter((symbol) => !known.has(symbol));
  const taken = new Set<number>();
  const assets = [
    ...DEMO_CATALOGUE,
    ...others.map((symbol) => asset(otherId(symbol, taken), symbol, 'none', '1', '0.01', 0n)),
  ];
  const real = assets.filter((one) => isEvm(one) && symbols.includes(one.symbol));
  return { assets, realIds: new Set(real.map(({ id }) => id)) };
}

/** The first streaming ID of the assets that are not in the catalogue, and the number of their IDs. */
const FIRST_OTHER_ID = 1_000;
const OTHER_IDS = 60_000;

/** Returns an ID that depends on the symbol, so that another file of sources gives no ID another meaning. */
function otherId(symbol: string, taken: Set<number>): number {
  let id = createHash('sha256').update(symbol).digest().readUInt32BE() % OTHER_IDS;
  while (taken.has(id)) id = (id + 1) % OTHER_IDS;
  taken.add(id);
  return FIRST_OTHER_ID + id;
}

function isEvm({ signatureType }: DemoAsset): boolean {
  return signatureType === 'evm';
}

function asset(
  id: number,
  symbol: string,
  calendar: DemoAsset['calendar'],
  anchor: string,
  tick: string,
  stepPpm: bigint,
  aggregation: AggregationType = 'median',
): DemoAsset {
  return { id, symbol, signatureType: 'evm', aggregation, calendar, anchor, tick, stepPpm };
}

function starkAsset(id: number, symbol: string, anchor: string, tick: string, stepPpm: bigint): DemoAsset {
  const signatureType = 'stark';
  return { id, symbol, signatureType, aggregation: 'median', calendar: 'none', anchor, tick, stepPpm };
}
