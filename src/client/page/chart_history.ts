import { REST_PATHS } from '../../wire/paths.js';
import type { Resolution } from '../../wire/rest_values.js';
import type { StreamClient, TaxonomyAsset } from '../index.js';
import { type ChartCandle, readCandles } from './answers.js';

/** The number of candles in a request. The reader sees about half of them. */
const CANDLES = 300;
/**
 * The largest amount by which the service's clock may be ahead of this computer's clock. Candles further ahead are left out.
 */
const CLOCK_S = 3_600;

/** The contents of the chart. */
export interface ShownChart {
  readonly asset: TaxonomyAsset;
  /** The asset that the chart compares with the shown asset; `undefined` without a comparison. */
  readonly compared: TaxonomyAsset | undefined;
  readonly resolution: Resolution;
  /** The instant at which the chart ends; `undefined` for the present. */
  readonly atNs: bigint | undefined;
}

/** Reads the candles of an asset for a chart. The history is not signed. */
export async function readHistory(
  client: Pick<StreamClient, 'get'>,
  { symbol, signatureType }: TaxonomyAsset,
  { resolution, atNs }: ShownChart,
): Promise<readonly ChartCandle[]> {
  const endS =
    atNs === undefined ? Math.floor(Date.now() / 1_000) + CLOCK_S : Number(atNs / 1_000_000_000n) + 1;
  const query = new URLSearchParams({
    symbol,
    signature_type: signatureType,
    resolution,
    from: '0',
    to: String(endS),
    countback: String(CANDLES),
  });
  return readCandles(await client.get(`${REST_PATHS.udfHistory}?${query}`));
}
