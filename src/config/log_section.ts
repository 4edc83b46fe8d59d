import { z } from 'zod';
import { NS_PER_MS, NS_PER_SECOND } from '../model/time.js';
import { isKeyName } from '../tlog/signed_note.js';
import { durationNs, line } from './schema_values.js';

/** The section of the public log. */
export interface LogConfig {
  /** The name of the log: its address without the scheme. */
  readonly origin: string;
  /** The period of a batch. */
  readonly batchNs: bigint;
  readonly checkpointMs: number;
  /** The path of the file with the witnesses and their quorum, in the format C2SP tlog-policy. */
  readonly policyFile?: string;
  /** The time after which the service publishes a checkpoint without the quorum. */
  readonly witnessGraceMs: number;
  /** True when the service never publishes a checkpoint without the quorum. */
  readonly requireQuorum: boolean;
  /** The time for which the service keeps the records of batches. */
  readonly recordsRetentionNs: bigint;
  /** True if the log already exists, so a data folder without the log must not start a new log. */
  readonly mustExist: boolean;
}

const HOUR_NS = 3_600n * NS_PER_SECOND;
/**
 * The smallest advised retention of records. With a shorter retention, an audit may report expired records as withheld. An audit
 * expects the records of the last hour. The second hour allows for clock differences and late batches.
 */
export const RECORDS_NS_ADVISED = 2n * HOUR_NS;

const origin = line.refine(
  (text) => isKeyName(text) && !text.includes('://') && !text.endsWith('/'),
  'expected the address of the log without scheme and without a slash at its end, such as prices.example.com/tlog',
);

/** The schema of {@link LogConfig}. */
export const logSchema = z.strictObject({
  origin: origin.optional(),
  /** The name of this node's log of streaming payloads. */
  stream_origin: origin.optional(),
  batch: durationNs({ minNs: 100n * NS_PER_MS, maxNs: 60n * NS_PER_SECOND, stepNs: NS_PER_MS }).prefault(
    '1s',
  ),
  checkpoint: durationNs({ minNs: 100n * NS_PER_MS, maxNs: HOUR_NS, stepNs: NS_PER_MS }).prefault('10s'),
  policy: z.strictObject({ file: line }).optional(),
  witness_grace: durationNs({ minNs: NS_PER_SECOND, maxNs: HOUR_NS, stepNs: NS_PER_MS }).prefault('60s'),
  require_quorum: z.boolean().prefault(false),
  must_exist: z.boolean().prefault(false),
  records_retention: durationNs({ minNs: 60n * NS_PER_SECOND }).prefault('7d'),
});

/** Returns the name of the log: the configured name, or the public address without its scheme, followed by `/tlog`. */
export function logOriginOf({
  log,
  service,
}: {
  readonly log?: { readonly origin?: string | undefined } | undefined;
  readonly service?: { readonly public_url?: string | undefined } | undefined;
}): string | undefined {
  const address = service?.public_url?.replace(/^wss?:\/\//, '');
  return log?.origin ?? (address && `${address}/tlog`);
}

/**
 * Returns the name of this node's log of streaming payloads: the configured name, or the name of the public log followed by the number of
 * the node.
 */
export function streamOriginOf(
  file: Parameters<typeof logOriginOf>[0] & {
    readonly log?: { readonly stream_origin?: string | undefined } | undefined;
    readonly cluster?: { readonly node?: number | undefined } | undefined;
  },
): string | undefined {
  const name = logOriginOf(file);
  return file.log?.stream_origin ?? (name && `${name}/node-${file.cluster?.node ?? 0}`);
}

interface LogFile {
  readonly keys: { readonly log?: unknown; readonly stream_log?: unknown };
  readonly log: z.output<typeof logSchema>;
  readonly service: { readonly public_url?: string | undefined };
  readonly cluster?: { readonly role: 'aggregator' | 'edge'; readonly node: number } | undefined;
}

/** Returns the section with the name of the log, if the file turns the log on. An edge of a cluster has only a copy of the log. */
export function toLog(file: LogFile): LogConfig | undefined {
  const isOn = file.keys.log !== undefined && file.cluster?.role !== 'edge';
  return isOn ? sectionOf(file, logOriginOf(file)) : undefined;
}

/** Returns the section with the name of this node's log of streaming payloads, if the file turns that log on. */
export function toStreamLog(file: LogFile): LogConfig | undefined {
  return file.keys.stream_log === undefined ? undefined : sectionOf(file, streamOriginOf(file));
}

function sectionOf({ log }: LogFile, name: string | undefined): LogConfig | undefined {
  if (name === undefined) return undefined;
  return {
    origin: name,
    batchNs: log.batch,
    checkpointMs: Number(log.checkpoint / NS_PER_MS),
    ...(log.policy && { policyFile: log.policy.file }),
    witnessGraceMs: Number(log.witness_grace / NS_PER_MS),
    requireQuorum: log.require_quorum,
    mustExist: log.must_exist,
    recordsRetentionNs: log.records_retention,
  };
}
