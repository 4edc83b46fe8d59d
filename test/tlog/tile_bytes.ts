import { TILE_WIDTH, type Tile } from '../../src/tlog/tiles.js';
import { rootOf } from '../../src/tlog/tree_hash.js';

/** Returns a function that makes the tiles of the tree of these leaves, by the definition of a tile. */
export function tileBytes(leaves: readonly Uint8Array[]): (tile: Tile) => Uint8Array {
  const levels = [leaves];
  for (let below = leaves; below.length >= TILE_WIDTH; ) {
    const full = Math.floor(below.length / TILE_WIDTH);
    const hashes = below;
    below = Array.from({ length: full }, (_, i) =>
      rootOf(hashes.slice(i * TILE_WIDTH, (i + 1) * TILE_WIDTH)),
    );
    levels.push(below);
  }
  return ({ level, index, width }) => {
    const start = Number(index) * TILE_WIDTH;
    return new Uint8Array(Buffer.concat(levels[Number(level)]!.slice(start, start + width)));
  };
}
