import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/config/load.js';
import { createAggregateSigner } from '../../src/crypto/aggregate_signer.js';
import { createCryptoPool } from '../../src/crypto/pool/pool.js';
import { listSegments, logFolderOf } from '../../src/log/disk/segment.js';
import { FILE_KINDS, type FileKind, pastFolderOf } from '../../src/log/past/hour_paths.js';
import { holdingOf } from '../../src/log/records/next_holding.js';
import { openStore, type Store } from '../../src/log/store/store.js';
import type { Price } from '../../src/model/price.js';
import type { PublisherPrice } from '../../src/model/signed_price.js';
import type { TimeNs } from '../../src/model/time.js';
import { openPast } from '../../src/service/opened_past.js';
import { shownFacts } from '../../src/service/shown_facts.js';
import { publisherKeys, SERVICE_KEY } from './keys.js';
import { Updates } from './updates.js';
import { pause } from './wait.js';

/** The number of aggregates that use an input. */
const USES = 10;
const ENTRIES_PER_WRITE = 1_000;
const NS_PER_HOUR = 3_600_000_000_000n;

/** A past on disk, with aggregates of each asset at the same times. */
export interface StoredPast {
  /** The signed times, ascending. */
  readonly times: readonly bigint[];
  /** The number of bytes in the files of each kind. */
  readonly bytes: Readonly<Record<FileKind, number>>;
}

export interface PastToStore {
  /** The number of aggregates of each asset. */
  readonly aggregates: number;
  /** The time between two aggregates of an asset. */
  readonly stepNs: bigint;
  /** The first asset with aggregates; default: 0. All later assets have aggregates too. */
  readonly firstAsset?: number;
  /** The unit of time in which the past ends: its last full unit. Default: an hour. */
  readonly unitNs?: bigint;
}

/** Writes signed aggregates into the data folder of a configuration. Each input is part of {@link USES} aggregates. */
export async function storePast(configFile: string, past: PastToStore): Promise<StoredPast> {
  const { aggregates, stepNs, firstAsset = 0, unitNs = NS_PER_HOUR } = past;
  const loaded = loadConfig(configFile);
  assert(loaded.ok, 'the configuration of the bench is valid');
  const { config } = loaded;
  const { publishers } = config;
  const assets = config.assets.slice(firstAsset);
  const endNs = ((BigInt(Date.now()) * 1_000_000n) / unitNs) * unitNs;
  const startNs = endNs - BigInt(aggregates) * stepNs;
  const intervalNs = (stepNs * BigInt(USES)) / BigInt(publishers.length * assets.length);
  // The first aggregate needs an input of each publisher, and no input may be later than the aggregate.
  const updates = new Updates('evm', { startNs: startNs - BigInt(2 * USES) * stepNs, intervalNs });
  const pool = await createCryptoPool({ threads: 0 });
  const signer = createAggregateSigner({ evm: SERVICE_KEY }, '', pool);
  const folder = pastFolderOf(config.storage.dir);
  const clock = { nowNs: () => endNs as TimeNs };
  const shown = shownFacts(config);
  const openOne = () =>
    openStore({
      assets: config.assets,
      candleRetentionMs: Number(config.storage.candleRetentionNs / 1_000_000n),
      dir: config.storage.dir,
      reserveBytes: 0,
      clock,
      openFollower: () => openPast(config, () => true, clock, { error: console.error }),
    });
  const store = await openOne();
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
        if (i === 0 || (i + 3 * place) % USES === 0) own[place] = updates.input(publisher, firstAsset + a);
      });
      return { asset, trigger: 'clock' as const, price: medianOf(own), inputs: [...own], signedAtNs };
    });
    for (const aggregate of await signer.sign('evm', unsigned)) {
      const facts = shown(aggregate.symbol, aggregate.algorithm);
      store.record(aggregate, holdingOf(aggregate, facts, store.newest(aggregate)));
    }
    times.push(signedAtNs);
    waiting += assets.length;
    if (waiting < ENTRIES_PER_WRITE) continue;
    waiting = 0;
    await store.durable();
  }
  await store.close();
  await moveLog(await openOne(), config.storage.dir);
  await pool.close();
  const bytesOf = (ending: string) =>
    readdirSync(folder)
      .filter((name) => name.endsWith(ending))
      .reduce((bytes, name) => bytes + statSync(join(folder, name)).size, 0);
  const [jsonl, inputsBytes] = FILE_KINDS.map(bytesOf);
  return { times, bytes: { jsonl: jsonl!, inputs: inputsBytes! } };
}

/** Waits until the segments of the last process are in the files of their hours. They are moved when this process has a segment. */
async function moveLog(store: Store, dir: string): Promise<void> {
  await store.marks.countStart();
  await store.durable();
  while (listSegments(logFolderOf(dir)).length > 1) await pause(20);
  await store.close();
}

function medianOf(inputs: readonly PublisherPrice[]): Price {
  const sorted = inputs.map(({ price }) => price).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const upper = sorted[sorted.length >> 1]!;
  return (sorted.length % 2 === 1 ? upper : (sorted[(sorted.length >> 1) - 1]! + upper) / 2n) as Price;
}
