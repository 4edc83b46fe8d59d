import { z } from 'zod';
import { SIGNATURE_TYPES } from '../wire/signatures.js';
import { WIRE_VERSION } from './log/log_batch.js';
import type { Sender } from './subjects.js';
import { readJson } from './unreadable.js';

const BYTES_MAX = 16 * 1024;
/**
 * The largest number of keys in a report. There are three uses with at most 8 keys each, and an EVM key counts twice when it also signs
 * streams.
 */
const SIGNERS_MAX = 32;
/** The largest length of a text. A host name has at most 255 characters, and a Stark key has 66. */
const TEXT_LENGTH_MAX = 256;

/** The largest length of the name of a log, and of its key: the name, 8 hex digits, 44 characters of Base64 and two `+`. */
const LOG_NAME_LENGTH_MAX = 400;
const LOG_KEY_LENGTH_MAX = LOG_NAME_LENGTH_MAX + 54;

const text = z.string().max(TEXT_LENGTH_MAX);

const isBytes = (value: unknown): value is Uint8Array => value instanceof Uint8Array;
const sha256 = z.codec(z.string().regex(/^(?:[0-9a-f]{2}){0,32}$/), z.custom<Uint8Array>(isBytes), {
  decode: (hex) => new Uint8Array(Buffer.from(hex, 'hex')),
  encode: (bytes) => Buffer.from(bytes).toString('hex'),
});

const signer = z.object({
  address: text,
  signatureType: z.enum(SIGNATURE_TYPES),
  role: z.enum(['aggregate', 'stream']),
  sinceS: z.int().nonnegative(),
  fromS: z.int().nonnegative().optional(),
  untilS: z.int().nonnegative().optional(),
});

/** The text of the report that each node sends about once a second. A later version may add fields. */
const ownReport = z.object({
  name: text,
  /** A random text that identifies the node's process. */
  run: text,
  /** The node's role. A leader makes prices, a standby can make prices, and an edge never makes prices. */
  role: z.enum(['edge', 'standby', 'leader']),
  /** The sequence of the last log record that the node has applied. */
  applied: z.int().nonnegative(),
  configHash: sha256,
  /** The node's keys. */
  signers: z.array(signer).max(SIGNERS_MAX).readonly(),
  /** The log of the streaming payloads that the node signs; absent without such a log. */
  streamLog: z
    .object({ origin: z.string().max(LOG_NAME_LENGTH_MAX), vkey: z.string().max(LOG_KEY_LENGTH_MAX) })
    .optional(),
  /** True when the node makes or could make prices, and its clock is correct. */
  isFit: z.boolean(),
});
const nodeReport = ownReport.extend({ wireVersion: z.int().positive() });

/** A report of a node, as the node itself makes it. */
export type OwnReport = z.infer<typeof ownReport>;

/** A report of a node, as the other nodes receive it. */
export interface NodeReport extends z.infer<typeof nodeReport> {
  readonly node: number;
}

export function encodeNodeReport({ streamLog, ...rest }: OwnReport): Uint8Array {
  // The other nodes do not list a log whose name is too long.
  const isNamed = streamLog !== undefined && streamLog.origin.length <= LOG_NAME_LENGTH_MAX;
  const report = { ...rest, ...(isNamed && { streamLog }) };
  return Buffer.from(JSON.stringify(z.encode(nodeReport, { ...report, wireVersion: WIRE_VERSION })));
}

/**
 * Reads a report from {@link encodeNodeReport} of this version or a later version.
 * @returns `undefined` for all other bytes, and for the report of an edge that claims to be a standby or to have aggregators' keys
 */
export function decodeNodeReport({ node, role }: Sender, bytes: Uint8Array): NodeReport | undefined {
  const report = readJson(nodeReport, bytes, BYTES_MAX);
  if (report === undefined || (report.role === 'edge') !== (role === 'edge')) return undefined;
  const isMaker = report.isFit || report.signers.some((one) => one.role === 'aggregate');
  return role === 'edge' && isMaker ? undefined : { ...report, node };
}
