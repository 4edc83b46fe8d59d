import { Updates } from '../../scripts/load/updates.js';
import type { AssetIndex } from '../../src/model/asset.js';
import type { Price } from '../../src/model/price.js';
import { FrameEncoder } from '../../src/stream/encoder.js';
import { PriceTable } from '../../src/stream/price_table.js';
import { STAGE_TIME_NS } from './stream_stage.js';
import { STAGE_QUALITY } from './stream_table.js';

/** Returns the first price of each asset. A priced service has the same first prices. */
export function firstPrices(assets: number): Price[] {
  const updates = new Updates('evm');
  return Array.from({ length: assets }, (_, asset) => updates.update(0, asset).price);
}

/** Returns the `unsigned` frame that the service makes from its first prices. Only the time differs. */
export function unsignedFrame(assets: number): string {
  const prices = firstPrices(assets);
  const indexes = prices.map((_, index) => index as AssetIndex);
  const table = new PriceTable(indexes);
  for (const index of indexes) table.set(index, prices[index]!, STAGE_QUALITY);
  return new FrameEncoder(table, 1).unsignedFrame(indexes, STAGE_TIME_NS).toString();
}
