import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findBatch } from '../../tlog/batch_search.js';
import { isEqual } from '../../tlog/log_text.js';
import { nodeSha256 } from '../../tlog/node_sha256.js';
import { formatPlace } from '../../tlog/price_proof.js';
import { decodeRecord, type PriceRecord, splitRecords } from '../../tlog/price_record.js';
import { formatProofFile } from '../../tlog/proof_file.js';
import { parseNote } from '../../tlog/signed_note.js';
import {
  bundleOf,
  nodesFromTiles,
  parseTilePath,
  readBundle,
  TILE_WIDTH,
  type Tile,
  tilePath,
  tilesOfNodes,
} from '../../tlog/tiles.js';
import { parseCheckpoint } from '../../tlog/tree_checkpoint.js';
import { leafHash, rootOf } from '../../tlog/tree_hash.js';
import {
  consistencyProof,
  inclusionPath,
  type NodeReader,
  nodesOfConsistency,
  nodesOfInclusion,
  type TreeNode,
} from '../../tlog/tree_nodes.js';
import { batchPath, CHECKPOINT_FILE, cutTile, widerWidth } from './ledger_folder.js';

/** A price to find in the log: its symbol, type and time. */
export interface PlaceToFind {
  readonly signatureType: PriceRecord['signatureType'];
  readonly symbolHash: Uint8Array;
  readonly timeNs: bigint;
}

/** A part of a file, with the size of the whole file. */
export interface FilePart {
  readonly size: number;
  readonly bytes: Uint8Array;
}

/** The proof of a price, or the reason why there is no proof. */
export type ProofAnswer =
  | { readonly proof: string }
  | { readonly lacks: 'log' | 'checkpoint' | 'price' | 'records'; readonly reason: string };

/** The largest number of bundles of entries in memory. A bundle takes 43 kB. */
const BUNDLES_MAX = 32;

/** Reads the public files of the log, on any thread and while another thread writes the files. */
export class LedgerReader {
  readonly #folder: string;
  readonly #bundles = new Map<string, Promise<Uint8Array[]>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns the bytes of a public file; `undefined` when the file is missing. */
  async file(path: string): Promise<Uint8Array | undefined> {
    return ifExists(readFile(join(this.#folder, path)));
  }

  /** Returns the bytes of a tile. A wider tile also contains the bytes of a partial tile. */
  async tile(tile: Tile): Promise<Uint8Array | undefined> {
    const bytes = await this.file(tilePath(tile));
    if (bytes !== undefined || tile.width === TILE_WIDTH) return bytes;
    const width = widerWidth(this.#folder, tile);
    const wider = await this.file(tilePath({ ...tile, width }));
    return wider && cutTile(tile, wider, width);
  }

  /** Returns the bytes of a public file. Returns `undefined` for every other path, so a request cannot read other files. */
  async publicFile(path: string): Promise<Uint8Array | undefined> {
    const tile = parseTilePath(path);
    if (tile !== undefined) return this.tile(tile);
    return path === CHECKPOINT_FILE || isBatchPath(path) ? this.file(path) : undefined;
  }

  /** Returns the size of a public file, and a part of its bytes; `undefined` where {@link publicFile} returns `undefined`. */
  async publicPart(path: string, offset: number, lengthMax: number): Promise<FilePart | undefined> {
    if (isBatchPath(path)) return ifExists(readPart(join(this.#folder, path), offset, lengthMax));
    const bytes = await this.publicFile(path);
    return bytes && { size: bytes.length, bytes: bytes.subarray(offset, offset + lengthMax) };
  }

  /** Returns the proof that the tree of the published checkpoint contains a price. */
  async proofOf(place: PlaceToFind): Promise<ProofAnswer> {
    const bytes = await this.file(CHECKPOINT_FILE);
    if (bytes === undefined) return { lacks: 'log', reason: 'there is no public log here' };
    const checkpoint = Buffer.from(bytes).toString();
    const { origin, size } = parseCheckpoint(parseNote(checkpoint).text);
    const found = await findBatch(place.timeNs, size, (index) => this.#entry(origin, index, size));
    if (found === 'later')
      return { lacks: 'checkpoint', reason: 'no checkpoint covers this time yet: ask again later' };
    if (found === 'earlier') return { lacks: 'price', reason: 'the public log begins after this time' };
    const { entry, batch } = found;
    const stored = await this.file(batchPath(batch.batch));
    if (stored === undefined)
      return { lacks: 'records', reason: `the records of batch ${batch.batch} are no longer kept` };
    const records = splitRecords(stored);
    const record = records.findIndex((one) => isAt(one, place));
    if (record < 0)
      return { lacks: 'price', reason: `batch ${batch.batch} has no price of this asset with this time` };
    const leaves = records.map((one) => leafHash(one, nodeSha256));
    const path = inclusionPath(BigInt(record), BigInt(records.length), (node) => subtreeRoot(leaves, node));
    const extra = formatPlace({ entry, record: BigInt(record), path });
    const treePath = await this.#inclusion(batch.batch, size);
    return { proof: formatProofFile({ extra, index: batch.batch, path: treePath, checkpoint }) };
  }

  /** Returns the proof that the tree of `newer` batches begins with the tree of `older` batches. */
  async consistency(older: bigint, newer: bigint): Promise<Uint8Array[]> {
    const read = await this.#nodeReader(nodesOfConsistency(older, newer), newer);
    return consistencyProof(older, newer, read, nodeSha256);
  }

  async #inclusion(index: bigint, size: bigint): Promise<Uint8Array[]> {
    const read = await this.#nodeReader(nodesOfInclusion(index, size), size);
    return inclusionPath(index, size, read, nodeSha256);
  }

  /** Reads the tiles of these nodes. */
  async #nodeReader(nodes: readonly TreeNode[], size: bigint): Promise<NodeReader> {
    const tiles = tilesOfNodes(nodes, size);
    const read = await Promise.all(
      tiles.map(async (tile) => [tilePath(tile), await this.tile(tile)] as const),
    );
    const byPath = new Map(read);
    return nodesFromTiles(size, (tile) => this.#requiredTile(tile, byPath.get(tilePath(tile))), nodeSha256);
  }

  async #entry(origin: string, index: bigint, size: bigint): Promise<Uint8Array> {
    const bundle = bundleOf(index, size);
    // The log of another origin may replace the files of this folder.
    const key = `${origin} ${tilePath(bundle)}`;
    let reading = this.#bundles.get(key);
    if (reading === undefined) {
      reading = this.tile(bundle).then((bytes) =>
        readBundle(this.#requiredTile(bundle, bytes), bundle.width),
      );
      reading.catch(() => this.#bundles.delete(key));
      this.#bundles.set(key, reading);
      const [oldest] = this.#bundles.keys();
      if (this.#bundles.size > BUNDLES_MAX) this.#bundles.delete(oldest!);
    }
    return (await reading)[Number(index % BigInt(TILE_WIDTH))]!;
  }

  #requiredTile(tile: Tile, bytes: Uint8Array | undefined): Uint8Array {
    if (bytes === undefined) throw new Error(`${join(this.#folder, tilePath(tile))} is missing`);
    return bytes;
  }
}

/** Reads only the part, because the records of a batch may take 30 MB. */
async function readPart(path: string, offset: number, lengthMax: number): Promise<FilePart> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const bytes = Buffer.alloc(Math.max(0, Math.min(lengthMax, size - offset)));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, offset);
    return { size, bytes: bytes.subarray(0, bytesRead) };
  } finally {
    await file.close();
  }
}

async function ifExists<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

function isBatchPath(path: string): boolean {
  const match = /^batch\/((?:x\d{3}\/){0,6}\d{3})$/.exec(path);
  return match !== null && batchPath(BigInt(match[1]!.replace(/[x/]/g, ''))) === path;
}

function isAt(record: Uint8Array, { signatureType, symbolHash, timeNs }: PlaceToFind): boolean {
  const found = decodeRecord(record);
  return (
    found.timeNs === timeNs && found.signatureType === signatureType && isEqual(found.symbolHash, symbolHash)
  );
}

/** Returns the root of a full subtree of leaves. */
function subtreeRoot(
  leaves: readonly Uint8Array[],
  { level, index }: Parameters<ReturnType<typeof nodesFromTiles>>[0],
): Uint8Array {
  const width = 2 ** level;
  const start = Number(index) * width;
  return rootOf(leaves.slice(start, start + width), nodeSha256);
}
