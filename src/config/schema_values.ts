import { isIP } from 'node:net';
import { z } from 'zod';
import { parseAddressBlock } from '../model/address.js';
import { NS_PER_MS, NS_PER_SECOND } from '../model/time.js';
import { isIdName, SYMBOL_LENGTH_MAX } from '../wire/asset_id.js';
import { bySignatureType, DEFAULT_SIGNATURE_TYPE, SIGNATURE_TYPES } from '../wire/signatures.js';
import { parseDurationNs, parseSizeBytes, parseUtcTime, scaleDecimal } from './quantity.js';

// The value formats that several keys of the configuration file share.

export const line = z
  .string()
  .regex(/^[^\p{C}]{1,256}$/u, 'expected text of 1 to 256 characters without control characters');

/**
 * A symbol. A symbol is never `*`, because `*` means all symbols, and never `#` with a number, because such a name is a streaming ID. A
 * symbol is never `__proto__`, because symbols are keys of objects.
 */
export const symbol = z
  .string()
  .regex(
    new RegExp(`^(?!\\*$|__proto__$)[^\\s\\p{C},"\\\\]{1,${SYMBOL_LENGTH_MAX}}$`, 'u'),
    `expected a symbol of 1 to ${SYMBOL_LENGTH_MAX} characters without spaces, commas, quotes and backslashes`,
  )
  .refine((text) => !isIdName(text), 'expected a symbol: # and a number is a streaming ID');

/**
 * The labels of a host name. The last label must contain a letter, because a host name with a number at its end would be an invalid IPv4
 * address.
 */
const HOST_NAME =
  /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*(?=[a-z0-9-]*[a-z])[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
export const host = z
  .string()
  .max(253)
  .refine(
    (text) => isIP(text) !== 0 || HOST_NAME.test(text),
    'expected a host name or an IP address, without a port',
  );

const ADDRESS_BLOCK_EXPECTED = 'expected an address or a block such as 127.0.0.1, 10.0.0.0/8 or fd00::/8';
const addressBlock = z.string({ error: ADDRESS_BLOCK_EXPECTED }).transform((text, context) => {
  const block = parseAddressBlock(text);
  if (block === undefined) context.addIssue(ADDRESS_BLOCK_EXPECTED);
  return block ?? z.NEVER;
});
/** The schema of `trusted_proxies`: addresses and blocks, by default none. */
export const addressBlocks = z
  .array(addressBlock, { error: 'expected a list of addresses and blocks' })
  .prefault([]);

const keyPlaces = {
  file: line.optional(),
  env: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of an environment variable')
    .optional(),
};
const ONE_PLACE = 'expected either file or env';
const hasOnePlace = ({ file, env }: { file?: string | undefined; env?: string | undefined }) =>
  (file === undefined) !== (env === undefined);

export const keySource = z.strictObject(keyPlaces).refine(hasOnePlace, ONE_PLACE);

const TIME_EXPECTED = 'expected a time in UTC to the second, such as 2026-12-01T00:00:00Z';
const utcTime = z.string({ error: TIME_EXPECTED }).transform((text, context) => {
  const timeNs = parseUtcTime(text);
  if (timeNs === undefined) context.addIssue(TIME_EXPECTED);
  return timeNs ?? z.NEVER;
});

/** The largest number of keys for one purpose. */
const KEYS_MAX = 8;
const timedKeys = z
  .array(
    z
      .strictObject({ ...keyPlaces, from: utcTime.optional(), until: utcTime.optional() })
      .refine(hasOnePlace, ONE_PLACE),
  )
  .min(1)
  .max(KEYS_MAX);

/** The schema of a key, or of a list of keys with their times. The form of the value decides which errors are reported. */
const keySources = z
  .unknown()
  .transform((value, context): z.output<typeof keySource> | z.output<typeof timedKeys> | undefined => {
    if (value === undefined) return undefined;
    const read = (Array.isArray(value) ? timedKeys : keySource).safeParse(value);
    if (read.success) return read.data;
    for (const issue of read.error.issues)
      context.addIssue({ ...issue } as Parameters<typeof context.addIssue>[0]);
    return z.NEVER;
  });

/** The schemas of the keys that sign aggregates of each type, and of the key that signs streaming payloads, by default the EVM key. */
export const signingKeys = {
  ...bySignatureType(() => keySources.optional()),
  stream: keySources.optional(),
};

export const signatureType = z.enum(SIGNATURE_TYPES).prefault(DEFAULT_SIGNATURE_TYPE);

/** The smallest useful size of a message. */
const MESSAGE_BYTES_MIN = 64;
/** The largest message that one connection may keep in memory. */
const MESSAGE_BYTES_MAX = 64 * 1024 ** 2;

/** The number of decimals of {@link PERCENT_SCALE} and {@link WEIGHT_SCALE}. */
const DECIMALS_MAX = 6;

interface DurationBounds {
  readonly minNs: bigint;
  readonly maxNs?: bigint;
  /** The duration must be a multiple of this step. */
  readonly stepNs?: bigint;
}

export function durationNs({ minNs, maxNs, stepNs = 1n }: DurationBounds) {
  const expected = 'expected a duration such as 500ms, 60s, 10m, 24h or 3650d';
  // Zero needs no unit.
  return z.union([z.string(), z.literal(0)], { error: expected }).transform((text, context) => {
    const valueNs = text === 0 ? 0n : parseDurationNs(text);
    if (valueNs === undefined) context.addIssue(expected);
    else if (valueNs < minNs) context.addIssue(`expected at least ${formatDuration(minNs)}`);
    else if (maxNs !== undefined && valueNs > maxNs)
      context.addIssue(`expected at most ${formatDuration(maxNs)}`);
    else if (valueNs % stepNs !== 0n) context.addIssue(`expected a multiple of ${formatDuration(stepNs)}`);
    return valueNs ?? z.NEVER;
  });
}

export function sizeBytes(defaultText: string, bytesMax = MESSAGE_BYTES_MAX) {
  return anySizeBytes(bytesMax).prefault(defaultText);
}

export function anySizeBytes(bytesMax: number) {
  const expected = 'expected a size such as 65536, 64 KiB or 1 MiB';
  return z.union([z.int(), z.string()], { error: expected }).transform((size, context) => {
    const bytes = parseSizeBytes(String(size));
    if (bytes === undefined) context.addIssue(expected);
    else if (bytes < MESSAGE_BYTES_MIN || bytes > bytesMax)
      context.addIssue(`expected 64 B to ${formatSize(bytesMax)}`);
    return bytes ?? z.NEVER;
  });
}

export function count(defaultCount: number, max = 1_000_000_000) {
  return z.int().min(1).max(max).prefault(defaultCount);
}

/**
 * Accepts percentages and weights: above 0, at most 1000000, with at most 6 decimals. Returns the exact value
 * times 10^6.
 */
export function positiveDecimal() {
  return z
    .number()
    .positive()
    .max(1_000_000)
    .transform((value, context) => {
      const scaled = scaleDecimal(value, DECIMALS_MAX);
      if (scaled === undefined) context.addIssue(`expected at most ${DECIMALS_MAX} decimals`);
      return scaled ?? z.NEVER;
    });
}

function formatDuration(valueNs: bigint): string {
  return valueNs % NS_PER_SECOND === 0n ? `${valueNs / NS_PER_SECOND}s` : `${valueNs / NS_PER_MS}ms`;
}

function formatSize(bytes: number): string {
  return bytes % 1024 ** 3 === 0 ? `${bytes / 1024 ** 3} GiB` : `${bytes / 1024 ** 2} MiB`;
}
