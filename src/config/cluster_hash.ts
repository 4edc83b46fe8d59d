import { createHash } from 'node:crypto';
import type { Config } from './config.js';

/**
 * Returns the SHA-256 of all keys that determine the prices of a node: `service`, `assets`, `publishers` and `calendars`. The
 * order of keys and entries does not change the hash. The hash omits `service.public_url`, because each node has its own public
 * URL. The hash omits names and classes of assets, because they do not affect prices.
 */
export function clusterConfigHash({ service, assets, publishers, calendars }: Config): Buffer {
  const { publicUrl: _, ...identity } = service;
  const text = canonicalText({
    service: identity,
    assets: new Set(assets.map(({ index: _index, fullName: _name, assetClass: _class, ...asset }) => asset)),
    publishers: new Set(publishers.map(({ index: _index, ...publisher }) => publisher)),
    calendars,
  });
  return createHash('sha256').update(text).digest();
}

/** Returns JSON with sorted keys and sorted sets. The text contains integers of any size as digits, and bytes as hex. */
function canonicalText(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Buffer.isBuffer(value)) return JSON.stringify(value.toString('hex'));
  if (value instanceof Set) return `{${[...value].map(canonicalText).sort().join()}}`;
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  let text = '';
  for (const [key, start] of sortedKeys(value)) {
    const inner = (value as Record<string, unknown>)[key];
    if (inner !== undefined) text += `${text === '' ? '' : ','}${start}${canonicalText(inner)}`;
  }
  return `{${text}}`;
}

/** The sorted keys of objects, by the keys in the order of the object. A configuration has many objects with the same keys. */
const knownKeys = new Map<string, readonly (readonly [key: string, start: string])[]>();
/** The largest number of known lists. The keys of calendars are names, so their number has no other limit. */
const KNOWN_KEYS_MAX = 256;

/** Returns the keys of an object in their order, each with the text before its value. */
function sortedKeys(value: object): readonly (readonly [key: string, start: string])[] {
  const keys = Object.keys(value);
  const id = JSON.stringify(keys);
  let sorted = knownKeys.get(id);
  if (sorted === undefined) {
    if (knownKeys.size === KNOWN_KEYS_MAX) knownKeys.clear();
    sorted = keys.sort().map((key) => [key, `${JSON.stringify(key)}:`]);
    knownKeys.set(id, sorted);
  }
  return sorted;
}
