import { hashesAt, TILE_HEIGHT, TILE_LEVEL_MAX, TILE_WIDTH, type Tile, tileOf } from './tiles.js';
import { HASH_BYTES, leafHash, rootOf, type Sha256 } from './tree_hash.js';
import { type TreeNode, treeRoot } from './tree_nodes.js';

/** The hashes in one level of tiles. The first hash belongs to the tile `first`. */
interface GrowingLevel {
  /** The index of the first tile. */
  first: bigint;
  hashes: Uint8Array[];
}

/** The right edge of a growing tree: the hashes that are needed for the next tiles and for the root. */
export class GrowingTree {
  readonly #levels: GrowingLevel[] = [];
  readonly #sha256: Sha256 | undefined;
  #size = 0n;
  /** The root of the present tree, once it was asked for. */
  #root: Uint8Array | undefined;

  /**
   * @param size the number of entries so far
   * @param readTile returns the bytes of a tile of the tree of this size
   */
  constructor(size = 0n, readTile: (tile: Tile) => Uint8Array = noTile, sha256?: Sha256) {
    this.#sha256 = sha256;
    this.#size = size;
    for (let level = 0; level <= TILE_LEVEL_MAX && hashesAt(level, size) > 0n; level += 1) {
      const count = hashesAt(level, size);
      const first = count / BigInt(TILE_WIDTH);
      const width = Number(count % BigInt(TILE_WIDTH));
      const bytes = width === 0 ? new Uint8Array() : readTile({ level, index: first, width });
      this.#levels.push({ first, hashes: splitHashes(bytes, width) });
    }
  }

  get size(): bigint {
    return this.#size;
  }

  append(entry: Uint8Array): void {
    this.#size += 1n;
    this.#root = undefined;
    this.#push(0, leafHash(entry, this.#sha256));
  }

  root(): Uint8Array {
    this.#root ??= treeRoot(this.#size, (node) => this.#node(node), this.#sha256);
    return this.#root;
  }

  /** Returns the bytes of a tile that {@link forget} has not removed. */
  tileBytes({ level, index, width }: Tile & { readonly level: number }): Uint8Array {
    const { first, hashes } = this.#levels[level]!;
    const start = Number(index - first) * TILE_WIDTH;
    const bytes = new Uint8Array(width * HASH_BYTES);
    hashes.slice(start, start + width).forEach((hash, i) => {
      bytes.set(hash, i * HASH_BYTES);
    });
    return bytes;
  }

  /** Removes the hashes of all full tiles, because these tiles are in files now. */
  forget(): void {
    for (const level of this.#levels) {
      const full = Math.floor(level.hashes.length / TILE_WIDTH);
      level.hashes = level.hashes.slice(full * TILE_WIDTH);
      level.first += BigInt(full);
    }
  }

  #push(level: number, hash: Uint8Array): void {
    const at = this.#levels[level] ?? { first: 0n, hashes: [] };
    this.#levels[level] = at;
    at.hashes.push(hash);
    if (at.hashes.length % TILE_WIDTH === 0 && level < TILE_LEVEL_MAX)
      this.#push(level + 1, rootOf(at.hashes.slice(-TILE_WIDTH), this.#sha256));
  }

  /** Returns the hash of a node on the right edge. */
  #node(node: TreeNode): Uint8Array {
    const { level, index } = tileOf(node, this.#size);
    const { first, hashes } = this.#levels[level as number]!;
    const count = 1 << (node.level % TILE_HEIGHT);
    const inTile = Number((node.index * BigInt(count)) % BigInt(TILE_WIDTH));
    const start = Number(index - first) * TILE_WIDTH + inTile;
    return rootOf(hashes.slice(start, start + count), this.#sha256);
  }
}

function splitHashes(bytes: Uint8Array, count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => bytes.slice(i * HASH_BYTES, (i + 1) * HASH_BYTES));
}

function noTile(): never {
  throw new RangeError('an empty tree has no tiles');
}
