import assert from 'node:assert/strict';
import { SEED, seededRandom } from '../../scripts/load/random.js';
import { appendTo } from '../../scripts/load/store_records.js';
import { loadConfig } from '../../src/config/load.js';
import { openStore } from '../../src/log/store/store.js';
import { toHex } from '../../src/model/hex.js';
import { PRICE_SCALE, type Price } from '../../src/model/price.js';
import { NS_PER_SECOND, type TimeNs } from '../../src/model/time.js';

const MINUTE_S = 60;
const MINUTES_PER_COMMIT = 1_440;

/** A range of history in UNIX seconds, with the limits that requests use: `fromS` <= t < `toS`. */
export interface HistoryRange {
  readonly fromS: number;
  readonly toS: number;
}

/**
 * Fills the store of a configuration with a price for each minute of its first asset, up to the last full minute.
 * @returns the range that contains exactly these prices
 */
export async function storeCandles(configFile: string, candles: number): Promise<HistoryRange> {
  const loaded = loadConfig(configFile);
  assert(loaded.ok, 'the configuration of the bench is valid');
  const { assets, publishers, storage } = loaded.config;
  const asset = assets[0]!;
  const toS = Math.floor(Date.now() / 1000 / MINUTE_S) * MINUTE_S;
  const fromS = toS - candles * MINUTE_S;
  let nowNs = (BigInt(fromS) * NS_PER_SECOND) as TimeNs;
  const store = await openStore({
    dir: storage.dir,
    assets,
    candleRetentionMs: Number(storage.candleRetentionNs / 1_000_000n),
    clock: { nowNs: () => nowNs },
  });
  const random = seededRandom(SEED);
  const bytes = new Uint8Array(32);
  const wire = {
    publisherKey: toHex(publishers[0]!.key),
    externalAssetId: asset.symbol,
    price: '0',
    r: '0x0',
    s: '0x0',
    v: '0x1b',
    msgHash: toHex(bytes),
    metadata: undefined,
  };
  for (let minute = 0; minute < candles; minute++) {
    nowNs = (BigInt(fromS + minute * MINUTE_S) * NS_PER_SECOND) as TimeNs;
    const price = (100n * PRICE_SCALE + BigInt(Math.round(random() * 1e18))) as Price;
    appendTo(store, {
      symbol: asset.symbol,
      trigger: 'clock',
      price,
      timestampNs: nowNs,
      signedAtNs: nowNs,
      signatureType: asset.signatureType,
      publicKey: '0x0000000000000000000000000000000000000000',
      msgHash: bytes,
      r: bytes,
      s: bytes,
      v: 27,
      merkleRoot: bytes,
      algorithm: asset.aggregation,
      inputs: [{ price, timestampNs: nowNs, wire }],
    });
    if (minute % MINUTES_PER_COMMIT === 0) await store.durable();
  }
  await store.close();
  return { fromS, toS };
}
