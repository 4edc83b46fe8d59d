import type { AssetIndex } from '../model/asset.js';

/**
 * The assets of a connection's subscription. A change of a few assets takes one pass over the set. The set is neither sorted again nor
 * converted to text.
 */
export interface AssetSet {
  /** The assets, ascending by streaming ID. */
  readonly assets: readonly AssetIndex[];
  /** A hash of the set. Equal sets have equal hashes; different sets almost never do. */
  readonly hash: number;
}

export const NO_ASSETS: AssetSet = { assets: [], hash: 0 };

/** Returns the set of these assets. @param ids the streaming ID of each asset, by index */
export function assetSetOf(assets: readonly AssetIndex[], ids: readonly number[]): AssetSet {
  return withAssets(NO_ASSETS, assets, ids).set;
}

/**
 * Returns the set with more assets.
 * @param more the assets to add, each once, in any order
 * @returns the new set, or the same set if it already has all of them; and the added assets
 */
export function withAssets(
  set: AssetSet,
  more: readonly AssetIndex[],
  ids: readonly number[],
): { readonly set: AssetSet; readonly added: readonly AssetIndex[] } {
  const sorted = sortById(more, ids);
  const { assets } = set;
  const merged: AssetIndex[] = [];
  const added: AssetIndex[] = [];
  let { hash } = set;
  let at = 0;
  for (const asset of sorted) {
    while (at < assets.length && ids[assets[at]!]! < ids[asset]!) merged.push(assets[at++]!);
    if (assets[at] === asset) continue;
    merged.push(asset);
    added.push(asset);
    hash += hashOf(asset);
  }
  if (added.length === 0) return { set, added };
  while (at < assets.length) merged.push(assets[at++]!);
  return { set: { assets: merged, hash }, added };
}

/**
 * Returns the set without some assets.
 * @param gone the assets to remove, each once, in any order; some may be absent from the set
 * @returns the same set if the set has none of them
 */
export function withoutAssets(set: AssetSet, gone: readonly AssetIndex[], ids: readonly number[]): AssetSet {
  const sorted = sortById(gone, ids);
  const { assets } = set;
  const left: AssetIndex[] = [];
  let { hash } = set;
  let at = 0;
  for (const asset of sorted) {
    while (at < assets.length && ids[assets[at]!]! < ids[asset]!) left.push(assets[at++]!);
    if (assets[at] !== asset) continue;
    hash -= hashOf(asset);
    at++;
  }
  if (left.length + (assets.length - at) === assets.length) return set;
  while (at < assets.length) left.push(assets[at++]!);
  return { assets: left, hash };
}

export function isSameSet(one: AssetSet, other: AssetSet): boolean {
  if (one === other) return true;
  if (one.hash !== other.hash || one.assets.length !== other.assets.length) return false;
  for (let i = 0; i < one.assets.length; i++) if (one.assets[i] !== other.assets[i]) return false;
  return true;
}

function sortById(assets: readonly AssetIndex[], ids: readonly number[]): readonly AssetIndex[] {
  for (let i = 1; i < assets.length; i++)
    if (ids[assets[i - 1]!]! > ids[assets[i]!]!) return [...assets].sort((a, b) => ids[a]! - ids[b]!);
  return assets;
}

/**
 * Returns a 32-bit hash of an asset's index. The hash of a set is the sum of its assets' hashes, so the order of the assets does not
 * matter. A double holds this sum exactly.
 */
function hashOf(asset: AssetIndex): number {
  let mixed = Math.imul(asset + 1, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca77);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae3d);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
