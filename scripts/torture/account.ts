import assert from 'node:assert/strict';
import { publisherKeys, TOKEN } from '../../bench/load/catalogue.js';
import type { ServerProcess } from '../../bench/load/server_process.js';
import { parseExactJson, type SignedPrice } from '../../src/client/index.js';
import { systemClock } from '../../src/clock/clock.js';
import { loadConfig } from '../../src/config/load.js';
import { Catalogue } from '../../src/model/catalogue.js';
import { toHex } from '../../src/model/hex.js';
import { openStore } from '../../src/store/store.js';
import type { AckedPublisher } from './publisher.js';
import { until } from './service.js';

/** By publisher and symbol the time of the newest update. */
export type Account = Map<string, bigint>;

/** Adds what was acknowledged to a publisher. */
export function enter(account: Account, { publisher, acknowledged }: AckedPublisher): void {
  const key = toHex(publisherKeys('evm', publisher).key);
  for (const [symbol, timestampNs] of acknowledged) keepNewer(account, `${key} ${symbol}`, timestampNs);
}

/** How many of the acknowledged updates neither are in what was found nor have a newer one there. */
export function missing(acknowledged: Account, found: Account): number {
  return [...acknowledged].filter(([name, timestampNs]) => (found.get(name) ?? 0n) < timestampNs).length;
}

/** What `/v1/prices/latest` shows, as soon as it has all that was acknowledged, or at last. */
export async function servedAccount(
  service: ServerProcess,
  symbols: readonly string[],
  acknowledged: Account,
): Promise<Account> {
  let served = await readLatest(service, symbols);
  const isWhole = async () => {
    served = await readLatest(service, symbols);
    return missing(acknowledged, served) === 0;
  };
  // An aggregate is signed once a clock period; what does not come is for the caller to count.
  await until('all that was acknowledged is served', isWhole, SIGNED_MS_MAX).catch(() => {});
  return served;
}

const SIGNED_MS_MAX = 3_000;

/** What the data folder of a service that has ended holds. */
export async function storedAccount(configFile: string): Promise<Account> {
  const loaded = loadConfig(configFile);
  assert(loaded.ok);
  const { storage } = loaded.config;
  const catalogue = new Catalogue(loaded.config);
  const store = await openStore({
    dir: storage.dir,
    assets: catalogue.listed,
    candleRetentionMs: Number.MAX_SAFE_INTEGER,
    clock: systemClock(),
  });
  const account: Account = new Map();
  for (const { asset, key, input } of store.inputs())
    keepNewer(account, `${toHex(key)} ${asset.symbol}`, input.timestampNs);
  await store.close();
  return account;
}

async function readLatest({ port }: ServerProcess, symbols: readonly string[]): Promise<Account> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/prices/latest?assets=${symbols.join()}`, {
    headers: { Authorization: `Basic ${TOKEN}` },
  });
  const { data } = parseExactJson(await response.text()) as {
    data: Record<string, { signed_prices: readonly SignedPrice[] }>;
  };
  const account: Account = new Map();
  for (const [symbol, { signed_prices }] of Object.entries(data))
    for (const { publisher_key, timestamped_signature } of signed_prices)
      keepNewer(account, `${publisher_key} ${symbol}`, timestamped_signature.timestamp);
  return account;
}

function keepNewer(account: Account, name: string, timestampNs: bigint): void {
  if (timestampNs > (account.get(name) ?? 0n)) account.set(name, timestampNs);
}
