import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { CheckpointPublisher } from '../cluster/node/checkpoint_publisher.js';
import { LogMirror } from '../cluster/node/log_mirror.js';
import { type OpenLog, PublicLog } from '../cluster/node/public_log.js';
import type { LogKey } from '../cluster/node/public_log_options.js';
import { StoppedLog } from '../cluster/node/stopped_log.js';
import { StreamLog } from '../cluster/node/stream_log.js';
import type { Config } from '../config/config.js';
import type { LogConfig } from '../config/log_section.js';
import type { PrivateKeys } from '../config/private_keys.js';
import { signedSizes } from '../log/store/log_sizes.js';
import type { StoredMarks } from '../log/store/marks.js';
import type { PublicLogFacts } from '../model/node_list.js';
import { type Clock, NS_PER_MS, NS_PER_SECOND } from '../model/time.js';
import { CheckpointSigner } from '../publiclog/ledger/checkpoint_signer.js';
import { Ledger, LedgerStopped } from '../publiclog/ledger/ledger.js';
import { publicFolderOf, stateFolderOf, streamsFolderOf } from '../publiclog/ledger/ledger_folder.js';
import { LedgerReader } from '../publiclog/ledger/ledger_reader.js';
import { readCopyMark, removeCopyMark } from '../publiclog/ledger/log_copy.js';
import { NEW_ORIGIN, startLog } from '../publiclog/ledger/log_start.js';
import { HASH_FORM, PRICE_FORM, type RecordForm } from '../publiclog/ledger/record_form.js';
import { removeStopNote, writeStopNote } from '../publiclog/ledger/stop_note.js';
import { pauseUnlessAborted, postCheckpoint } from '../publiclog/witness/post_checkpoint.js';
import { Ed25519Key, verifyByNode } from '../tlog/ed25519_key.js';
import { parsePolicy, policyFault } from '../tlog/log_policy.js';
import { TlogError } from '../tlog/tlog_error.js';
import { formatVerifierKey } from '../tlog/verifier_key.js';
import { type WitnessFault, WitnessSubmitter } from '../tlog/witness_submitter.js';

/** The longest time from the signature of a checkpoint until all nodes serve it, not counting the batch and the interval. */
const PUBLISHING_NS = 19n * NS_PER_SECOND;

export interface OpenPublicLogOptions {
  readonly config: Config;
  /** The Ed25519 key of the log. */
  readonly seed: Buffer | undefined;
  /** The marks of the data folder, which its backups have too. */
  readonly marks: StoredMarks;
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/**
 * Opens the public log if the configuration turns it on. A log that must not continue is returned as a stopped log. An edge of a cluster
 * receives a copy of the aggregators' log.
 * @throws Error when its folder or its policy cannot be used
 */
export async function openPublicLog(options: OpenPublicLogOptions): Promise<OpenLog | undefined> {
  const { config, seed, marks, logger } = options;
  const { log, cluster, storage } = config;
  if (cluster?.role === 'edge')
    return new LogMirror({
      publicFolder: publicFolderOf(storage.dir),
      stateFolder: stateFolderOf(storage.dir),
      recordsRetentionNs: config.copiedRecordsRetentionNs,
      nowMs,
      logger,
    });
  if (log === undefined || seed === undefined) return undefined;
  return openOwnLog({ log, seed, dir: storage.dir, form: PRICE_FORM, marks, logger });
}

/**
 * Opens this node's log of streaming payloads if the configuration turns it on.
 * @throws Error when its folder or its policy cannot be used
 */
export async function openStreamLog(
  options: OpenPublicLogOptions & { readonly clock: Clock; readonly epoch: number },
): Promise<StreamLog | undefined> {
  const { config, seed, marks, logger, clock, epoch } = options;
  const { streamLog, storage } = config;
  if (streamLog === undefined || seed === undefined) return undefined;
  const log = await openOwnLog({
    log: streamLog,
    seed,
    dir: streamsFolderOf(storage.dir),
    form: HASH_FORM,
    marks,
    logger,
  });
  return new StreamLog({ log, clock, epoch });
}

/** The options of a log that this node signs. */
interface OwnLogOptions extends Pick<OpenPublicLogOptions, 'marks' | 'logger'> {
  readonly log: LogConfig;
  readonly seed: Buffer;
  /** The folder that has the two folders of the log. */
  readonly dir: string;
  readonly form: RecordForm;
}

async function openOwnLog(options: OwnLogOptions): Promise<OpenLog> {
  const { log, seed, dir, logger } = options;
  const key = logKeyOf(log, seed, dir, logger);
  const { facts } = key;
  try {
    return await openLedger(options, key);
  } catch (error) {
    if (!(error instanceof LedgerStopped || error instanceof TlogError)) throw error;
    const reason = `the public log has stopped: ${error.message}`;
    logger.error(reason);
    await writeStopNote(stateFolderOf(dir), reason).catch(() => {});
    return new StoppedLog(facts, reason);
  }
}

/** Returns the key of a log with the policy in its file. @throws Error when the policy cannot be used, or lacks the key */
function logKeyOf(log: LogConfig, seed: Buffer, dir: string, logger: OpenPublicLogOptions['logger']): LogKey {
  const key = new Ed25519Key(seed);
  const facts = factsOf(log, formatVerifierKey(key.logKey(log.origin)));
  const policy = parsePolicy(facts.policy);
  const fault = policyFault(policy, facts.vkey);
  if (fault !== undefined) throw new Error(`log.policy.file: ${fault}`);
  const reader = new LedgerReader(publicFolderOf(dir));
  const submitter = () =>
    new WitnessSubmitter({
      policy,
      post: postCheckpoint,
      prove: (older, newer) => reader.consistency(older, newer),
      verify: verifyByNode,
      nowMs,
      sleep: pauseUnlessAborted,
      random: Math.random,
      onFault: faultLogger(logger),
    });
  return { key, policy, submitter, facts };
}

/** A log as a reload changes it. */
type ChangingLog = Pick<OpenLog, 'changeKey' | 'facts'>;

/**
 * Reads the keys and policies of the logs after a reload, and returns a function that applies them.
 * @throws Error when a policy cannot be used, or lacks its key
 */
export function logKeyChange(
  {
    publicLog,
    streamLog,
  }: { readonly publicLog?: ChangingLog | undefined; readonly streamLog?: ChangingLog | undefined },
  { log, streamLog: streams, storage, cluster }: Config,
  keys: PrivateKeys,
  logger: OpenPublicLogOptions['logger'],
): () => void {
  const changes = [
    cluster?.role === 'edge' ? undefined : changeOf(publicLog, log, keys.log, storage.dir, logger),
    changeOf(streamLog, streams, keys.streamLog, streamsFolderOf(storage.dir), logger),
  ];
  return () => {
    for (const change of changes) change?.();
  };
}

function changeOf(
  open: ChangingLog | undefined,
  log: LogConfig | undefined,
  seed: Buffer | undefined,
  dir: string,
  logger: OpenPublicLogOptions['logger'],
): (() => void) | undefined {
  if (open?.facts === undefined || log === undefined || seed === undefined) return undefined;
  const before = open.facts;
  const next = logKeyOf(log, seed, dir, logger);
  const { origin, vkey, policy } = next.facts;
  if (vkey === before.vkey && policy === before.policy) return undefined;
  return () => {
    open.changeKey(next);
    logger.info({ origin, vkey }, 'the key or the policy of the public log has changed');
  };
}

/** Opens the log's files and witnesses. @throws LedgerStopped or TlogError when the log must not continue */
async function openLedger(
  { log, dir, form, marks, logger }: OwnLogOptions,
  { key, policy, submitter, facts }: LogKey,
): Promise<PublicLog> {
  const { origin, batchNs, checkpointMs, recordsRetentionNs } = log;
  const publicFolder = publicFolderOf(dir);
  const stateFolder = stateFolderOf(dir);
  const sizes = signedSizes(marks);
  const copiedAt = readCopyMark(stateFolder);
  if (copiedAt !== undefined) {
    if (policy.witnesses.every(({ url }) => url === undefined))
      throw new LedgerStopped(
        `this data folder is a copy of ${copiedAt}, and the log has no witness that could say whether it signed a larger tree since; ${NEW_ORIGIN}`,
      );
    logger.warn(
      `this data folder is a copy of ${copiedAt}: the public log waits until its witnesses say that they know no larger tree`,
    );
  }
  await startLog({ publicFolder, stateFolder, origin, sizes, mustExist: log.mustExist });
  const ledger = await Ledger.open({
    publicFolder,
    stateFolder,
    origin,
    form,
    recordsRetentionNs,
    onMismatch: (reason) => logger.error(`the public log: ${reason}`),
    onKept: (reason) => logger.warn(`the public log keeps records that have expired: ${reason}`),
  });
  const signer = new CheckpointSigner({
    publicFolder,
    stateFolder,
    origin,
    key,
    onSigned: (size) => void sizes.write(origin, size),
  });
  await removeStopNote(stateFolder);
  logger.info({ origin, vkey: facts.vkey, size: String(ledger.head.size) }, 'the public log is open');
  return new PublicLog({
    ledger,
    stateFolder,
    publisher: new CheckpointPublisher({
      publicFolder,
      signer,
      policy,
      submitter,
      graceMs: log.witnessGraceMs,
      requireQuorum: log.requireQuorum,
      isCopy: copiedAt !== undefined,
      onConfirmed: () => removeCopyMark(stateFolder),
      nowMs,
    }),
    facts,
    batchNs,
    checkpointMs,
    onStopped: (reason) => writeStopNote(stateFolder, reason),
    nowMs,
    logger,
  });
}

const nowMs = () => performance.now();

function factsOf({ origin, policyFile, batchNs, checkpointMs }: LogConfig, vkey: string): PublicLogFacts {
  const delayNs = batchNs + BigInt(checkpointMs) * NS_PER_MS + PUBLISHING_NS;
  return {
    origin,
    vkey,
    policy: policyFile === undefined ? `log ${vkey}\nquorum none\n` : readFileSync(policyFile, 'utf8'),
    maxDelayS: Number((delayNs + NS_PER_SECOND - 1n) / NS_PER_SECOND),
  };
}

/** Returns a function that logs a witness's fault when its kind or reason has changed. */
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
