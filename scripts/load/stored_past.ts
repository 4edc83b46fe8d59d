import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.js';
import { createAggregateSigner } from '../../src/crypto/aggregate_signer.js';
import { createCryptoPool } from '../../src/crypto/pool/pool.js';
import type { Price } from '../../src/model/price.js';
import type { PublisherPrice } from '../../src/model/signed_price.js';
import type { TimeNs } from '../../src/model/time.js';
import { pastFolderOf } from '../../src/past/past_folder.js';
import { PastWriter } from '../../src/past/past_writer.js';
import { holdingOf } from '../../src/records/next_holding.js';
import { pastOptions } from '../../src/service/past_options.js';
import { publisherKeys, SERVICE_KEY } from './keys.js';
import { Updates } from './updates.js';

/** The number of aggregates that use an input. */
const USES = 10;
const ENTRIES_PER_WRITE = 1_000;
const NS_PER_HOUR = 3_600_000_000_000n;

/** A past on disk, with aggregates of each asset at the same times. */
export interface StoredPast {
  /** The signed times, ascending. */
  readonly times: readonly bigint[];
  /** The number of bytes in the files of each tier. */
  readonly bytes: { readonly signatures: number; readonly inputs: number };
}

/**
 * Writes signed aggregates of all assets of a configuration into its past, up to a full hour. Each input is part of {@link USES}
 * aggregates.
 * @param aggregates the number of aggregates of each asset
 * @param stepNs the time between two aggregates of an asset
 */
export async function storePast(configFile: string, aggregates: number, stepNs: bigint): Promise<StoredPast> {
  const loaded = loadConfig(configFile);
  assert(loaded.ok, 'the configuration of the bench is valid');
  const { config } = loaded;
  const { assets, publishers } = config;
  const endNs = ((BigInt(Date.now()) * 1_000_000n) / NS_PER_HOUR) * NS_PER_HOUR;
  const startNs = endNs - BigInt(aggregates) * stepNs;
  const intervalNs = (stepNs * BigInt(USES)) / BigInt(publishers.length * assets.length);
  // The first aggregate needs an input of each publisher, and no input may be later than the aggregate.
  const updates = new Updates('evm', { startNs: startNs - BigInt(2 * USES) * stepNs, intervalNs });
  const pool = await createCryptoPool({ threads: 0 });
  const signer = createAggregateSigner({ evm: SERVICE_KEY }, '', pool);
  const folder = pastFolderOf(config.storage.dir);
  const clock = { nowNs: () => endNs as TimeNs };
  const options = pastOptions(config, clock, { warn: console.warn, error: console.error });
  const past = new PastWriter(options);
  past.open([]);
  const keys = publishers
    .map((_, publisher) => ({ publisher, key: publisherKeys('evm', publisher).key }))
    .sort((a, b) => a.key.compare(b.key));
  const inputs: PublisherPrice[][] = assets.map(() => []);
  const times: bigint[] = [];
  let waiting = 0;
  for (let i = 0; i < aggregates; i++) {
    const signedAtNs = (startNs + BigInt(i) * stepNs) as TimeNs;
    const unsigned = assets.map((asset, a) => {
      const own = inputs[a]!;
      keys.forEach(({ publisher }, place) => {
        if (i === 0 || (i + 3 * place) % USES === 0) own[place] = inputOf(updates, publisher, a);
      });
      return { asset, trigger: 'clock' as const, price: medianOf(own), inputs: [...own], signedAtNs };
    });
    for (const aggregate of await signer.sign('evm', unsigned)) {
      const shown = options.shown(aggregate.symbol, aggregate.algorithm);
      past.append(aggregate, holdingOf(aggregate, shown, undefined));
    }
    times.push(signedAtNs);
    waiting += assets.length;
    if (waiting < ENTRIES_PER_WRITE) continue;
    waiting = 0;
    await past.write();
    void past.committed();
  }
  await past.write();
  await past.close();
  // The second start of the writer moves the last log into the file of its hour.
  const last = new PastWriter(options);
  last.open([]);
  await last.load();
  await last.committed();
  await last.close();
  await pool.close();
  const bytesOf = (ending: string) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(ending))
      .reduce((bytes, name) => bytes + statSync(join(folder, name)).size, 0);
  return { times, bytes: { signatures: bytesOf('.signatures'), inputs: bytesOf('.inputs') } };
}

function inputOf(updates: Updates, publisher: number, asset: number): PublisherPrice {
  const { price, timestampNs, text } = updates.update(publisher, asset);
  const [update] = Object.values(JSON.parse(`{${text}}`) as Record<string, { signed_price: SignedPrice }>);
  const { publisher_key: publisherKey, external_asset_id, timestamped_signature } = update!.signed_price;
  const { signature, msg_hash: msgHash } = timestamped_signature;
  const wire = {
    publisherKey,
    externalAssetId: external_asset_id,
    price: String(price),
    ...signature,
    msgHash,
    metadata: undefined,
  };
  return { price, timestampNs, wire };
}

interface SignedPrice {
  readonly publisher_key: string;
  readonly external_asset_id: string;
  readonly timestamped_signature: {
    readonly signature: { readonly r: string; readonly s: string; readonly v: string };
    readonly msg_hash: string;
  };
}

function medianOf(inputs: readonly PublisherPrice[]): Price {
  const sorted = inputs.map(({ price }) => price).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const upper = sorted[sorted.length >> 1]!;
  return (sorted.length % 2 === 1 ? upper : (sorted[(sorted.length >> 1) - 1]! + upper) / 2n) as Price;
}
