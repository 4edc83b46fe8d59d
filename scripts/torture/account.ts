import assert from 'node:assert/strict';
import { parseExactJson, type SignedPrice } from '../../src/client/index.js';
import { systemClock } from '../../src/clock/clock.js';
import { loadConfig } from '../../src/config/load.js';
import { openStore } from '../../src/log/store/store.js';
import { Catalogue } from '../../src/model/catalogue.js';
import { toHex } from '../../src/model/hex.js';
import { fetchBody } from '../load/fetch_body.js';
import { publisherKeys } from '../load/keys.js';
import type { ServerProcess } from '../load/server_process.js';
import type { AckedPublisher } from './publisher.js';
import { until } from './service.js';

/** The time of the newest update, by publisher and symbol. */
export type Account = Map<string, bigint>;

/** Adds a publisher's acknowledged updates to the account. */
export function enter(account: Account, { publisher, acknowledged }: AckedPublisher): void {
  const key = toHex(publisherKeys('evm', publisher).key);
  for (const [symbol, timestampNs] of acknowledged) keepNewer(account, `${key} ${symbol}`, timestampNs);
}

/** Counts the lost acknowledged updates. An update is lost if neither the update nor a newer update was found. */
export function missing(acknowledged: Account, found: Account): number {
  return [...acknowledged].filter(([name, timestampNs]) => (found.get(name) ?? 0n) < timestampNs).length;
}

/** Reads the prices of `/v1/prices/latest` until they include all acknowledged updates, or until the time is over. */
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
  // The loop must wait, because the service signs an aggregate only once in a clock period. The caller counts the missing
  // updates.
  await until('all that was acknowledged is served', isWhole, SIGNED_MS_MAX).catch(() => {});
  return served;
}

const SIGNED_MS_MAX = 60_000;

/** Reads the updates in the data folder of a service that has ended. */
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
  const { data } = parseExactJson(await fetchBody(port, `/v1/prices/latest?assets=${symbols.join()}`)) as {
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
