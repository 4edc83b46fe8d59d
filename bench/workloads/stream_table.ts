import { SEED, seededRandom } from '../../scripts/load/random.js';
import { Updates } from '../../scripts/load/updates.js';
import type { AssetIndex } from '../../src/model/asset.js';
import type { Price } from '../../src/model/price.js';
import type { TimeNs } from '../../src/model/time.js';
import { FrameEncoder } from '../../src/stream/encoder.js';
import { PriceTable } from '../../src/stream/price_table.js';
import type { InputQuality } from '../../src/wire/price_quality.js';

/** A time with 19 digits. All times between 2001 and 2286 have 19 digits. */
export const STAGE_TIME_NS = 1_735_689_600_000_000_000n as TimeNs;
/** The quality of all prices of a stage. */
export const STAGE_QUALITY: InputQuality = { newestNs: 0n, publishers: 3, spreadPpm: 90 };

/** Returns the name of a figure about frames with this number of assets. */
export function sizeName(assets: number): string {
  return assets === 1 ? '1 asset' : `${assets} assets`;
}

/** A table of prices, and the indexes of its assets. */
export interface StageTable {
  readonly table: PriceTable;
  readonly indexes: readonly AssetIndex[];
}

/** Returns a table with a random live price of each asset. */
export function filledTable(assets: number): StageTable {
  const random = seededRandom(SEED);
  return tableOf(Array.from({ length: assets }, () => priceOf(random())));
}

/** Returns the `unsigned` frame that a priced service makes from its first prices. Only the time differs. */
export function unsignedFrame(assets: number): string {
  const updates = new Updates('evm');
  const prices = Array.from({ length: assets }, (_, asset) => updates.update(0, asset).price);
  const { table, indexes } = tableOf(prices);
  return new FrameEncoder(table, 1).unsignedFrame(indexes, STAGE_TIME_NS).toString();
}

function tableOf(prices: readonly Price[]): StageTable {
  const indexes = prices.map((_, index) => index as AssetIndex);
  const table = new PriceTable(indexes);
  for (const index of indexes) table.set(index, prices[index]!, STAGE_QUALITY);
  return { table, indexes };
}

/** Returns a price from a thousandth to a hundred thousand, with 18 non-zero decimals. */
function priceOf(random: number): Price {
  const micros = BigInt(Math.round(10 ** (random * 8 - 3) * 1e6));
  return (micros * 10n ** 12n + BigInt(Math.round(random * 1e12))) as Price;
}
