import { readDecimal } from './log_text.js';
import { TlogError } from './tlog_error.js';
import { HASH_BYTES, rootOf, type Sha256 } from './tree_hash.js';
import type { NodeReader, TreeNode } from './tree_nodes.js';

// The files of a log: C2SP tlog-tiles.

/** The number of levels of the tree in one tile. The next constant is the number of hashes in a full tile. */
export const TILE_HEIGHT = 8;
export const TILE_WIDTH = 256;
/** The highest level of tiles in any tree of at most 2^63 - 1 entries. */
export const TILE_LEVEL_MAX = 7;
export const ENTRY_BYTES_MAX = 65_535;

/** A file of the log: hashes of one level, or (`'entries'`) the entries of a tile of level 0. */
export interface Tile {
  readonly level: number | 'entries';
  readonly index: bigint;
  /** The number of hashes or entries: 256 in a full tile, 1 to 255 in a partial tile. */
  readonly width: number;
}

/** Returns the path under the prefix of the log, such as `tile/0/x001/234.p/5`. */
export function tilePath({ level, index, width }: Tile): string {
  return `tile/${level}/${indexPath(index)}${width === TILE_WIDTH ? '' : `.p/${width}`}`;
}

/** Returns an index in groups of three digits, such as `x001/x234/067`. */
export function indexPath(index: bigint): string {
  const digits = String(index);
  const groups = digits.padStart(3 * Math.ceil(digits.length / 3), '0').match(/.../g)!;
  return groups.map((group, i) => (i < groups.length - 1 ? `x${group}` : group)).join('/');
}

/** Reads a path in the form of {@link tilePath}. Returns `undefined` for any other path. */
export function parseTilePath(path: string): Tile | undefined {
  const match = /^tile\/(entries|\d)\/((?:x\d{3}\/){0,6}\d{3})(?:\.p\/(\d{1,3}))?$/.exec(path);
  if (match === null) return undefined;
  const [, level = '', groups = '', width] = match;
  const index = readDecimal(groups.replace(/[x/]/g, '').replace(/^0+(?=\d)/, ''));
  if (index === undefined) return undefined;
  const tile: Tile = {
    level: level === 'entries' ? level : Number(level),
    index,
    width: width === undefined ? TILE_WIDTH : Number(width),
  };
  const isInRange = tile.level === 'entries' || tile.level <= TILE_LEVEL_MAX;
  return isInRange && tile.width > 0 && tilePath(tile) === path ? tile : undefined;
}

/** Returns the files that a log of `newer` entries has and a log of `older` entries does not have. Tiles of hashes come last. */
export function tilesBetween(older: bigint, newer: bigint): Tile[] {
  const tiles: Tile[] = [];
  for (let level = 0; level <= TILE_LEVEL_MAX; level += 1) {
    const before = hashesAt(level, older);
    const count = hashesAt(level, newer);
    if (count === before) break;
    for (let index = before / BigInt(TILE_WIDTH); index * BigInt(TILE_WIDTH) < count; index += 1n)
      tiles.push({ level, index, width: widthOf(index, count) });
  }
  const bundles = tiles
    .filter(({ level }) => level === 0)
    .map((tile): Tile => ({ ...tile, level: 'entries' }));
  return [...bundles, ...tiles];
}

/** Returns the tile of a log of `size` entries that contains the node or the hashes below the node. */
export function tileOf(node: TreeNode, size: bigint): Tile {
  const level = Math.floor(node.level / TILE_HEIGHT);
  const first = node.index << BigInt(node.level % TILE_HEIGHT);
  const index = first / BigInt(TILE_WIDTH);
  return { level, index, width: widthOf(index, hashesAt(level, size)) };
}

/** Returns the tile of entries that contains the entry, in a log of `size` entries. */
export function bundleOf(entry: bigint, size: bigint): Tile {
  return { ...tileOf({ level: 0, index: entry }, size), level: 'entries' };
}

/** Returns the tiles that contain the nodes, without repetitions. */
export function tilesOfNodes(nodes: readonly TreeNode[], size: bigint): Tile[] {
  return [...new Map(nodes.map((node) => tileOf(node, size)).map((tile) => [tilePath(tile), tile])).values()];
}

/**
 * Returns a reader of nodes from the tiles of a log of `size` entries.
 * @param readTile returns the bytes of a tile
 * @returns a reader that throws TlogError for a tile of a wrong length
 */
export function nodesFromTiles(
  size: bigint,
  readTile: (tile: Tile) => Uint8Array,
  sha256?: Sha256,
): NodeReader {
  return (node) => {
    const tile = tileOf(node, size);
    const bytes = readTile(tile);
    if (bytes.length !== tile.width * HASH_BYTES)
      throw new TlogError(
        `${tilePath(tile)} has ${bytes.length} bytes instead of ${tile.width * HASH_BYTES}`,
      );
    const count = 1 << (node.level % TILE_HEIGHT);
    const first = Number((node.index * BigInt(count)) % BigInt(TILE_WIDTH));
    if (first + count > tile.width) throw new TlogError(`a tree of ${size} has no such node`);
    return rootOf(
      Array.from({ length: count }, (_, i) =>
        bytes.subarray((first + i) * HASH_BYTES, (first + i + 1) * HASH_BYTES),
      ),
      sha256,
    );
  };
}

/** Returns the bytes of a tile of entries. @throws RangeError when an entry is too long */
export function writeBundle(entries: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(entries.reduce((length, entry) => length + 2 + entry.length, 0));
  let at = 0;
  for (const entry of entries) {
    if (entry.length > ENTRY_BYTES_MAX) throw new RangeError(`an entry has at most ${ENTRY_BYTES_MAX} bytes`);
    bytes.set([entry.length >> 8, entry.length & 0xff], at);
    bytes.set(entry, at + 2);
    at += 2 + entry.length;
  }
  return bytes;
}

/** Reads the entries of a tile of `width` entries. @throws TlogError when the bytes are malformed */
export function readBundle(bytes: Uint8Array, width: number): Uint8Array[] {
  const entries: Uint8Array[] = [];
  for (let at = 0; at < bytes.length && entries.length <= width; ) {
    const end = at + 2 + ((bytes[at]! << 8) | (bytes[at + 1] ?? 0));
    if (at + 2 > bytes.length || end > bytes.length) throw new TlogError('a bundle of entries is cut');
    entries.push(bytes.subarray(at + 2, end));
    at = end;
  }
  if (entries.length !== width) throw new TlogError(`a bundle does not have ${width} entries`);
  return entries;
}

/** Returns the number of hashes in the tiles of this level. */
export function hashesAt(level: number, size: bigint): bigint {
  return size >> BigInt(TILE_HEIGHT * level);
}

function widthOf(index: bigint, count: bigint): number {
  const left = count - index * BigInt(TILE_WIDTH);
  if (left <= 0n) throw new TlogError('the tree has no such tile');
  return Number(left < BigInt(TILE_WIDTH) ? left : BigInt(TILE_WIDTH));
}
