import { parseExactJson, type SignedPrice } from '../../src/client/index.js';
import { readState } from '../../src/log/store/state_reader.js';
import { toHex } from '../../src/model/hex.js';
import { fetchBody } from '../load/fetch_body.js';
import { publisherKeys } from '../load/keys.js';
import type { ServerProcess } from '../load/server_process.js';
import { until } from './service.js';

/** The newest update, by publisher and symbol. */
export type Account = Map<string, AccountedUpdate>;

export interface AccountedUpdate {
  readonly timestampNs: bigint;
  readonly price: bigint;
}

/** Adds a publisher's acknowledged updates to the account. */
export function enter(
  account: Account,
  { publisher, acknowledged }: { readonly publisher: number; readonly acknowledged: Account },
): void {
  const key = toHex(publisherKeys('evm', publisher).key);
  for (const [symbol, update] of acknowledged) keepNewer(account, `${key} ${symbol}`, update);
}

/** Counts the lost acknowledged updates. An update is lost if neither the update nor a newer update was found. */
export function missing(acknowledged: Account, found: Account): number {
  return [...acknowledged].filter(
    ([name, { timestampNs }]) => (found.get(name)?.timestampNs ?? 0n) < timestampNs,
  ).length;
}

/** Counts the acknowledged updates that were found with another price. */
export function changed(acknowledged: Account, found: Account): number {
  return [...acknowledged].filter(([name, { timestampNs, price }]) => {
    const now = found.get(name);
    return now?.timestampNs === timestampNs && now.price !== price;
  }).length;
}

/** Reads the prices of `/v1/prices/latest` until they include all acknowledged updates, or until the time is over. */
export async function servedAccount(
  service: ServerProcess,
  symbols: readonly string[],
  acknowledged: Account,
): Promise<Account> {
  let served: Account = new Map();
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

/** Reads the updates in a data folder. Changes nothing in it. */
export async function storedAccount(storageDir: string): Promise<Account> {
  const account: Account = new Map();
  const { state } = await readState(storageDir, () => {});
  for (const { asset, key, accepted } of state.inputs.values())
    keepNewer(account, `0x${key} ${asset.symbol}`, accepted.input);
  return account;
}

async function readLatest({ port }: ServerProcess, symbols: readonly string[]): Promise<Account> {
  const { data } = parseExactJson(await fetchBody(port, `/v1/prices/latest?assets=${symbols.join()}`)) as {
    data: Record<string, { signed_prices: readonly SignedPrice[] }>;
  };
  const account: Account = new Map();
  for (const [symbol, { signed_prices }] of Object.entries(data))
    for (const { publisher_key, price, timestamped_signature } of signed_prices)
      keepNewer(account, `${publisher_key} ${symbol}`, {
        timestampNs: timestamped_signature.timestamp,
        price: BigInt(price),
      });
  return account;
}

/** Keeps an update, unless the account has a newer one. */
export function keepNewer(account: Account, name: string, { timestampNs, price }: AccountedUpdate): void {
  if (timestampNs > (account.get(name)?.timestampNs ?? 0n)) account.set(name, { timestampNs, price });
}
