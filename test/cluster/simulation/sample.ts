import type { LogEntry } from '../../../src/cluster/log/log_batch.js';
import { IdMapping } from '../../../src/cluster/ticks/id_mapping.js';
import type { AssetName } from '../../../src/model/asset_map.js';
import type { Price } from '../../../src/model/price.js';
import type { PublishRights } from '../../../src/prices/gate.js';
import type { ReadMessage } from '../../../src/prices/message.js';

/** The numbers of the assets in the simulation. */
export const ASSETS = [1, 2, 3] as const;

/** An update of a publisher. Each update has a different value. */
export interface Update {
  readonly asset: number;
  readonly value: number;
}

/** An aggregate that the leading node signed. */
export interface Aggregate extends Update {
  /** The time of the signature in µs, on the clock of the leading node. */
  readonly signedAtUs: number;
}

/** The meanings of streaming IDs before and after a reload. The reload gives the IDs to other assets. */
export const TAXONOMIES = [0, 1].map(
  (shift) => new IdMapping(ASSETS.map((asset) => ({ id: 1 + ((asset + shift) % 3), ...nameOf(asset) }))),
);

export function nameOf(asset: number): AssetName {
  return { symbol: `A${asset}`, signatureType: 'evm' };
}

export function numberOf({ symbol }: AssetName): number {
  return Number(symbol.slice(1));
}

const KEY = new Uint8Array(20);

export function priceOf(value: number): Price {
  return BigInt(value) as Price;
}

export const RIGHTS: PublishRights = { identity: 'alice', mayPublishAs: () => true, maySee: () => true };

/** Creates a publisher's message with one update. */
export function messageOf({ asset, value }: Update): ReadMessage {
  const { symbol } = nameOf(asset);
  const update = {
    symbol,
    assetId: symbol,
    publisherKey: '0x02',
    externalAssetId: symbol,
    signatureType: 'evm',
    price: String(value),
    timestamp: String(value),
    r: '0x03',
    s: '0x04',
    v: undefined,
    msgHash: '0x05',
    metadata: undefined,
  };
  return { ok: true, traceId: undefined, updates: [update], malformed: new Map(), length: 200 };
}

/** Returns the update of a message that {@link messageOf} made. */
export function updateOf({ updates }: ReadMessage): Update {
  const { symbol, price } = updates[0]!;
  return { asset: numberOf({ symbol, signatureType: 'evm' }), value: Number(price) };
}

/** Makes the entry of an input. @param before earlier updates in the input, as hashes */
export function inputEntry({ asset, value }: Update, before: readonly number[] = []): LogEntry {
  return { ...nameOf(asset), publisherKey: KEY, bytes: numbers(value, ...before) };
}

export function aggregateEntry({ asset, value, signedAtUs }: Aggregate): LogEntry {
  return { ...nameOf(asset), bytes: numbers(value, signedAtUs) };
}

/** Reads an entry of either kind. Only an aggregate has a time, and only an input has earlier updates. */
export function readEntry({ symbol, signatureType, publisherKey, bytes }: LogEntry): Aggregate & {
  readonly isInput: boolean;
  readonly before: readonly number[];
} {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const isInput = publisherKey !== undefined;
  const [value = 0, ...others] = Array.from({ length: bytes.length / 8 }, (_, i) => view.getFloat64(i * 8));
  return {
    asset: numberOf({ symbol, signatureType }),
    value,
    signedAtUs: isInput ? 0 : others[0]!,
    before: isInput ? others : [],
    isInput,
  };
}

function numbers(...values: number[]): Uint8Array {
  const bytes = new Uint8Array(values.length * 8);
  const view = new DataView(bytes.buffer);
  for (const [place, value] of values.entries()) view.setFloat64(place * 8, value);
  return bytes;
}
