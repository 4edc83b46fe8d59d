import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import { CheckpointSigner } from '../ledger/checkpoint_signer.js';
import { Ledger } from '../ledger/ledger.js';
import { publicFolderOf, stateFolderOf } from '../ledger/ledger_folder.js';
import type { PublicLogFacts } from '../model/node_list.js';
import type { Clock } from '../model/time.js';
import { NS_PER_MS, NS_PER_SECOND } from '../model/time.js';
import { PublicLog } from '../node/public_log.js';
import { Ed25519Key } from '../tlog/ed25519_key.js';
import { formatVerifierKey } from '../tlog/verifier_key.js';

/** The longest time that a checkpoint takes from its signature until all nodes serve it, beside the batch and the interval. */
const PUBLISHING_NS = 19n * NS_PER_SECOND;

export interface OpenPublicLogOptions {
  readonly config: Config;
  /** The Ed25519 key of the log. */
  readonly seed: Buffer | undefined;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** Opens the public log, if the configuration switches it on. @throws Error when its folder cannot be used */
export async function openPublicLog(options: OpenPublicLogOptions): Promise<PublicLog | undefined> {
  const { config, seed, clock, logger } = options;
  const { log, storage } = config;
  if (log === undefined || seed === undefined) return undefined;
  const { origin, batchNs, checkpointMs } = log;
  const folders = { publicFolder: publicFolderOf(storage.dir), stateFolder: stateFolderOf(storage.dir) };
  const key = new Ed25519Key(seed);
  const ledger = await Ledger.open({
    ...folders,
    origin,
    onMismatch: (reason) => logger.error(`the public log: ${reason}`),
  });
  const signer = new CheckpointSigner({ ...folders, origin, key });
  const vkey = formatVerifierKey(key.logKey(origin));
  logger.info({ origin, vkey, size: String(ledger.head.size) }, 'the public log is open');
  return new PublicLog({
    ...folders,
    ledger,
    signer,
    facts: factsOf(log, vkey),
    batchNs,
    checkpointMs,
    nowMs: () => performance.now(),
    timeMs: () => Number(clock.nowNs() / NS_PER_MS),
    logger,
  });
}

function factsOf(
  { origin, policyFile, batchNs, checkpointMs }: NonNullable<Config['log']>,
  vkey: string,
): PublicLogFacts {
  const delayNs = batchNs + BigInt(checkpointMs) * NS_PER_MS + PUBLISHING_NS;
  return {
    origin,
    vkey,
    policy: policyFile === undefined ? `log ${vkey}\nquorum none\n` : readFileSync(policyFile, 'utf8'),
    maxDelayS: Number((delayNs + NS_PER_SECOND - 1n) / NS_PER_SECOND),
  };
}
