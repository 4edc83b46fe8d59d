import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import type { Config } from '../config/config.js';
import { CheckpointSigner } from '../ledger/checkpoint_signer.js';
import { Ledger } from '../ledger/ledger.js';
import { publicFolderOf, stateFolderOf } from '../ledger/ledger_folder.js';
import { LedgerReader } from '../ledger/ledger_reader.js';
import type { PublicLogFacts } from '../model/node_list.js';
import { NS_PER_MS, NS_PER_SECOND } from '../model/time.js';
import { CheckpointPublisher } from '../node/checkpoint_publisher.js';
import { PublicLog } from '../node/public_log.js';
import { Ed25519Key, verifyByNode } from '../tlog/ed25519_key.js';
import { type LogPolicy, parsePolicy } from '../tlog/log_policy.js';
import { formatVerifierKey } from '../tlog/verifier_key.js';
import { type WitnessFault, WitnessSubmitter } from '../tlog/witness_submitter.js';
import { pauseUnlessAborted, postCheckpoint } from '../witness/post_checkpoint.js';

/** The longest time from a checkpoint's signature until all nodes serve the checkpoint, without the batch and the interval. */
const PUBLISHING_NS = 19n * NS_PER_SECOND;

export interface OpenPublicLogOptions {
  readonly config: Config;
  /** The Ed25519 key of the log. */
  readonly seed: Buffer | undefined;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** Opens the public log, if the configuration turns the log on. @throws Error when its folder cannot be used */
export async function openPublicLog(options: OpenPublicLogOptions): Promise<PublicLog | undefined> {
  const { config, seed, logger } = options;
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
  const facts = factsOf(log, vkey);
  const policy = parsePolicy(facts.policy);
  requireUsable(policy, vkey);
  const nowMs = () => performance.now();
  const reader = new LedgerReader(folders.publicFolder);
  const submitter = new WitnessSubmitter({
    policy,
    post: postCheckpoint,
    prove: (older, newer) => reader.consistency(older, newer),
    verify: verifyByNode,
    nowMs,
    sleep: pauseUnlessAborted,
    random: Math.random,
    onFault: faultLogger(logger),
  });
  return new PublicLog({
    ledger,
    publisher: new CheckpointPublisher({
      ...folders,
      signer,
      policy,
      submitter,
      graceMs: log.witnessGraceMs,
      requireQuorum: log.requireQuorum,
      nowMs,
    }),
    facts,
    batchNs,
    checkpointMs,
    nowMs,
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

/** Checks the policy. @throws Error when readers with this policy could never accept a checkpoint */
function requireUsable({ logs, witnesses, isQuorum }: LogPolicy, vkey: string): void {
  if (logs.every(({ key }) => formatVerifierKey(key) !== vkey))
    throw new Error(`log.policy.file: has no line "log ${vkey}"`);
  const asked = witnesses.filter(({ url }) => url !== undefined);
  const unusable = asked.find(({ url }) => !/^https?:$/.test(URL.parse(url!)?.protocol ?? ''));
  if (unusable !== undefined)
    throw new Error(`log.policy.file: the address of ${unusable.name} is not an http or https URL`);
  if (!isQuorum(new Set(asked.map(({ name }) => name))))
    throw new Error('log.policy.file: the witnesses that have an address are no quorum');
}

/** Returns a function that logs a fault of a witness when the kind or the reason of the fault changes. */
function faultLogger(logger: OpenPublicLogOptions['logger']) {
  const told = new Map<string, string>();
  return ({ name }: { readonly name: string }, fault: WitnessFault) => {
    const reason = fault.kind === 'larger' ? `it has cosigned ${fault.size} batches` : fault.reason;
    if (told.get(name) === reason) return;
    told.set(name, reason);
    const isAlarm = fault.kind === 'larger' || fault.kind === 'forked';
    logger[isAlarm ? 'error' : 'warn']({ witness: name, reason }, 'a witness did not cosign the public log');
  };
}
