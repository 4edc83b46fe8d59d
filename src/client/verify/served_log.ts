import { type FoundBatch, findBatch } from '../../tlog/batch_search.js';
import { toBase64 } from '../../tlog/log_text.js';
import { NOTE_BYTES_MAX } from '../../tlog/signed_note.js';
import {
  bundleOf,
  indexPath,
  nodesFromTiles,
  readBundle,
  TILE_WIDTH,
  type Tile,
  tilePath,
  tilesOfNodes,
} from '../../tlog/tiles.js';
import type { Sha256 } from '../../tlog/tree_hash.js';
import { inclusionPath, type NodeReader, nodesOfInclusion, type TreeNode } from '../../tlog/tree_nodes.js';
import type { ProvenEntry } from './evidence_file.js';

/** Reads a file of a log. @returns `undefined` when the log answers that the file does not exist. @throws Error without an answer */
export type ReadLogFile = (path: string, bytesMax: number) => Promise<Uint8Array | undefined>;

const BUNDLE_BYTES_MAX = TILE_WIDTH * 1_100;
const BATCH_BYTES_MAX = 64 * 1024 * 1024;

/** The served files of a log. */
export class ServedLog {
  readonly #read: ReadLogFile;
  readonly #sha256: Sha256 | undefined;

  /** @param sha256 a faster hash than plain JavaScript */
  constructor(read: ReadLogFile, sha256?: Sha256) {
    this.#read = read;
    this.#sha256 = sha256;
  }

  async checkpoint(): Promise<string> {
    return new TextDecoder().decode(await this.#file('checkpoint', NOTE_BYTES_MAX));
  }

  /** Reads each tile once that contains nodes of a log of `size` entries. */
  async nodes(nodes: readonly TreeNode[], size: bigint): Promise<NodeReader> {
    const bytes = new Map<string, Uint8Array>();
    for (const tile of tilesOfNodes(nodes, size))
      bytes.set(tilePath(tile), (await this.#tile(tile)).subarray(0, 32 * tile.width));
    return nodesFromTiles(size, (tile) => bytes.get(tilePath(tile))!, this.#sha256);
  }

  /** Makes a proof that a log of `size` entries contains an entry. */
  async prove(index: bigint, entry: string, size: bigint): Promise<ProvenEntry> {
    const read = await this.nodes(nodesOfInclusion(index, size), size);
    const path = inclusionPath(index, size, read, this.#sha256).map(toBase64);
    return { index: String(index), entry, path };
  }

  /** Finds the batch of a time in a log of `size` entries. The number of requests is about log2 of `size`. */
  batchAt(timeNs: bigint, size: bigint): Promise<FoundBatch | 'earlier' | 'later'> {
    return findBatch(timeNs, size, async (index) => (await this.entries(index, size))[0]!);
  }

  /** Reads the entries from `start` to the end of the bundle, or to the end of the log of `size` entries. */
  async entries(start: bigint, size: bigint): Promise<Uint8Array[]> {
    const tile = bundleOf(start, size);
    return readBundle(await this.#tile(tile), tile.width).slice(Number(start % BigInt(TILE_WIDTH)));
  }

  /** Reads the records of a batch; `undefined` when the log does not serve the records. @throws TlogError for malformed records */
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

/** Splits the bytes of a batch into leaves. The leaves may be in a wrong order. */
export function leavesOf(bytes: Uint8Array, width: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(bytes.length / width) }, (_, i) =>
    bytes.subarray(i * width, (i + 1) * width),
  );
}
