import { z } from 'zod';
import { SIGNATURE_TYPES } from '../../wire/signatures.js';
import type { MappedAsset } from '../../wire/taxonomy_statement.js';
import { readJson } from '../unreadable.js';

/** The size at which a page ends. The asset that reaches this size is the page's last asset. */
const PAGE_BYTES = 256 * 1024;
const MESSAGE_BYTES_MAX = 2 * PAGE_BYTES;
/** The largest size of an asset, apart from its symbol. */
const ASSET_BYTES = 50;
/** The longest symbol: 64 characters, each of at most two UTF-16 code units. */
const SYMBOL_LENGTH_MAX = 128;
const ID_MAX = 0xffff;

const identifiedAsset = z.object({
  id: z.int().min(0).max(ID_MAX),
  symbol: z.string().max(SYMBOL_LENGTH_MAX),
  signatureType: z.enum(SIGNATURE_TYPES),
});

/** A part of the meaning of a leader's streaming IDs. The meaning of all IDs may exceed the size of a message. */
const namesPage = z.object({
  /** The assets, ascending by ID. */
  assets: z
    .array(identifiedAsset)
    .max(ID_MAX + 1)
    .readonly(),
  isLast: z.boolean(),
  /** The taxonomy ID under which the assets have these IDs. */
  taxonomyId: z.int().min(0).max(ID_MAX).optional(),
});

export type NamesPage = z.infer<typeof namesPage>;

/** Encodes a query for the assets from `firstId` on. */
export function encodeNamesQuery(firstId: number): Uint8Array {
  return Uint8Array.of(firstId >> 8, firstId & 0xff);
}

/**
 * Answers a query that {@link encodeNamesQuery} wrote.
 * @param mapping its assets are ascending by ID
 */
export function answerNames(
  query: Uint8Array,
  {
    assets,
    taxonomyId,
  }: { readonly assets: readonly MappedAsset[]; readonly taxonomyId?: number | undefined },
): Uint8Array {
  const firstId = ((query[0] ?? 0) << 8) | (query[1] ?? 0);
  const page: MappedAsset[] = [];
  let bytes = 0;
  for (const asset of assets) {
    if (asset.id < firstId) continue;
    if (bytes >= PAGE_BYTES) return encodeNames({ assets: page, isLast: false, taxonomyId });
    page.push(asset);
    bytes += ASSET_BYTES + 3 * asset.symbol.length;
  }
  return encodeNames({ assets: page, isLast: true, taxonomyId });
}

export function encodeNames(page: NamesPage): Uint8Array {
  return Buffer.from(JSON.stringify(page));
}

/**
 * Reads a page that {@link encodeNames} wrote.
 * @returns `undefined` for all other bytes
 */
export function decodeNames(bytes: Uint8Array): NamesPage | undefined {
  return readJson(namesPage, bytes, MESSAGE_BYTES_MAX);
}

/** Returns the first ID of the next page; `undefined` if no page can follow. */
export function nextIdAfter({ assets, isLast }: NamesPage): number | undefined {
  const last = assets.at(-1);
  return isLast || last === undefined || last.id >= ID_MAX ? undefined : last.id + 1;
}
