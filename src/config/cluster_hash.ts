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
  if (Buffer.isBuffer(value)) return JSON.stringify(value.toString('hex'));
  if (value instanceof Set) return `{${[...value].map(canonicalText).sort().join()}}`;
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value)
    .filter(([, inner]) => inner !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonicalText(inner)}`).join()}}`;
}
