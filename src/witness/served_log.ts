import { createHash } from 'node:crypto';
import { NOTE_BYTES_MAX } from '../tlog/signed_note.js';
import { bundleOf, indexPath, readBundle, TILE_WIDTH, type Tile, tilePath } from '../tlog/tiles.js';
import type { Sha256 } from '../tlog/tree_hash.js';

/** Reads a file of a log. @returns `undefined` when the log answers that it has no such file. @throws Error without an answer */
export type ReadLogFile = (path: string, bytesMax: number) => Promise<Uint8Array | undefined>;

export const nodeSha256: Sha256 = (bytes) => createHash('sha256').update(bytes).digest();

const BUNDLE_BYTES_MAX = TILE_WIDTH * 1_100;
const BATCH_BYTES_MAX = 64 * 1024 * 1024;

/** The files of a log, as it serves them. */
export class ServedLog {
  readonly #read: ReadLogFile;

  constructor(read: ReadLogFile) {
    this.#read = read;
  }

  async checkpoint(): Promise<string> {
    return Buffer.from(await this.#file('checkpoint', NOTE_BYTES_MAX)).toString();
  }

  /** Reads the tiles, each once. @returns a function that finds the bytes of each */
  async tiles(tiles: readonly Tile[]): Promise<(tile: Tile) => Uint8Array> {
    const bytes = new Map<string, Uint8Array>();
    for (const tile of tiles)
      bytes.set(tilePath(tile), (await this.#tile(tile)).subarray(0, 32 * tile.width));
    return (tile) => bytes.get(tilePath(tile))!;
  }

  /** Reads the entries from `start` to the end of their bundle, or of the log of `size` entries. */
  async entries(start: bigint, size: bigint): Promise<Uint8Array[]> {
    const tile = bundleOf(start, size);
    return readBundle(await this.#tile(tile), tile.width).slice(Number(start % BigInt(TILE_WIDTH)));
  }

  /** Reads the records of a batch; `undefined` when they are not served. @throws TlogError when they are malformed */
  async records(batch: bigint): Promise<Uint8Array | undefined> {
    return this.#read(`batch/${indexPath(batch)}`, BATCH_BYTES_MAX);
  }

  #tile(tile: Tile): Promise<Uint8Array> {
    return this.#file(tilePath(tile), BUNDLE_BYTES_MAX);
  }

  async #file(path: string, bytesMax: number): Promise<Uint8Array> {
    const bytes = await this.#read(path, bytesMax);
    if (bytes === undefined) throw new Error(`the log does not serve ${path}`);
    return bytes;
  }
}

/** Splits the bytes of a batch into leaves, also when they are in a wrong order. */
export function leavesOf(bytes: Uint8Array, width: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / width) }, (_, i) =>
    bytes.subarray(i * width, (i + 1) * width),
  );
}
