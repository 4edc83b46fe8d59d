import type { KeySpan } from '../model/key_schedule.js';
import type { TimeNs } from '../model/time.js';
import { SIGNATURE_TYPES } from '../wire/signatures.js';
import type { ConfigFile } from './schema.js';

/** The names of the keys that sign aggregates of each type, and streaming payloads. */
export const SIGNING_KEYS = [...SIGNATURE_TYPES, 'stream'] as const;
export type SigningKey = (typeof SIGNING_KEYS)[number];

/** The source of a private key: a file, or an environment variable. */
export type KeySource = { readonly file: string } | { readonly env: string };

/** The source of one of several keys, and the time span in which this key signs. */
export interface TimedSource extends KeySpan {
  readonly source: KeySource;
}

/** A key source for all times, or several key sources in the order of their time spans. */
export type KeyPlan = KeySource | readonly TimedSource[];

type KeyEntries = NonNullable<ConfigFile['keys'][SigningKey]>;
type SingleKey = Exclude<KeyEntries, readonly unknown[]>;

export function toKeySource({ file, env }: SingleKey): KeySource {
  return file === undefined ? { env: env! } : { file };
}

/**
 * Converts the keys for one purpose. A key without `until` ends when the next key begins. A key without `from` begins when the previous key
 * ends.
 */
export function readKeyPlan(keys: KeyEntries): KeyPlan {
  if (!Array.isArray(keys)) return toKeySource(keys as SingleKey);
  return keys.map((key, i) => ({
    source: toKeySource(key),
    fromNs: key.from ?? keys[i - 1]?.until ?? (0n as TimeNs),
    untilNs: key.until ?? keys[i + 1]?.from,
  }));
}

/** Applies a function to the source of each key. */
export function mapSources(keys: KeyPlan, change: (source: KeySource) => KeySource): KeyPlan {
  if (!isTimed(keys)) return change(keys);
  return keys.map((key) => ({ ...key, source: change(key.source) }));
}

export function isTimed(keys: KeyPlan): keys is readonly TimedSource[] {
  return Array.isArray(keys);
}
