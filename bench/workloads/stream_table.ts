import { SEED, seededRandom } from '../../scripts/load/random.js';
import type { AssetIndex } from '../../src/model/asset.js';
import type { Price } from '../../src/model/price.js';
import { PriceTable } from '../../src/stream/price_table.js';
import type { InputQuality } from '../../src/wire/price_quality.js';

/** The quality of all prices of a stage. */
export const STAGE_QUALITY: InputQuality = { newestNs: 0n, publishers: 3, spreadPpm: 90 };

/** Returns a table with a live price of each asset. */
export function filledTable(assets: number): { readonly table: PriceTable; readonly indexes: AssetIndex[] } {
  const random = seededRandom(SEED);
  const indexes = Array.from({ length: assets }, (_, i) => i as AssetIndex);
  const table = new PriceTable(indexes);
  for (const index of indexes) table.set(index, priceOf(random()), STAGE_QUALITY);
  return { table, indexes };
}

/** Returns a price from a thousandth to a hundred thousand, with 18 non-zero decimals. */
function priceOf(random: number): Price {
  const micros = BigInt(Math.round(10 ** (random * 8 - 3) * 1e6));
  return (micros * 10n ** 12n + BigInt(Math.round(random * 1e12))) as Price;
}
