import { crc32 } from 'node:zlib';
import { type Chunk, type ChunkBlock, readTexts, writeTexts } from './chunk.js';
import { PackedReader, PackedWriter, TextList } from './packed_bytes.js';

/** The kinds of files of an hour. A file is removed as a whole when its retention time ends. */
export const TIERS = ['signatures', 'inputs'] as const;
export type Tier = (typeof TIERS)[number];

/** The size of the header of a group. */
export const GROUP_HEADER_BYTES = 56;

const MAGIC = 0x54535047;
const VERSION = 1;

/** The header of a group. A group is a chunk in a file: a header, an index and blocks, each with a checksum. */
export interface GroupHeader {
  readonly tier: Tier;
  readonly hour: number;
  readonly number: number;
  readonly entries: number;
  readonly indexBytes: number;
  readonly blocksBytes: number;
  /** The time of the first entry that is not a carried copy; 0 without such an entry. */
  readonly firstNs: bigint;
  readonly lastNs: bigint;
  readonly indexChecksum: number;
}

/** A block and its position after the index. */
export interface GroupBlock extends ChunkBlock {
  readonly at: number;
  readonly bytes: number;
  readonly checksum: number;
}

export interface BlockIndex {
  readonly texts: TextList;
  readonly blocksOf: ReadonlyMap<string, readonly GroupBlock[]>;
}

/**
 * Encodes a chunk for the file of a tier, in parts; the caller can do other work between two parts. The blocks of an asset are adjacent, so
 * a range of one asset needs few reads.
 */
export function* groupParts(chunk: Chunk, tier: Tier): Iterable<Buffer> {
  const blocks = [...chunk.blocksOf].sort(([a], [b]) => (a < b ? -1 : 1));
  const index = new PackedWriter();
  const { facts, sources } = chunk.texts;
  writeTexts(index, (tier === 'signatures' ? facts : sources).texts);
  index.count(blocks.length);
  let entries = 0;
  let blocksBytes = 0;
  for (const [assetKey, ofAsset] of blocks) {
    index.sized(Buffer.from(assetKey));
    index.count(ofAsset.length);
    for (const block of ofAsset) {
      const bytes = block[tier].since(0);
      index.count(block.entries);
      index.integer(block.minNs);
      index.integer(block.maxNs - block.minNs);
      index.count(bytes.length);
      index.count(crc32(bytes));
      entries += block.entries;
      blocksBytes += bytes.length;
    }
  }
  const indexBytes = index.take();
  const { hour, number, firstNs = 0n, lastNs } = chunk;
  yield encodeHeader({
    tier,
    hour,
    number,
    entries,
    indexBytes: indexBytes.length,
    blocksBytes,
    firstNs,
    lastNs,
    indexChecksum: crc32(indexBytes),
  });
  yield indexBytes;
  for (const [, ofAsset] of blocks) yield Buffer.concat(ofAsset.map((block) => block[tier].since(0)));
}

function encodeHeader(header: GroupHeader): Buffer {
  const bytes = Buffer.alloc(GROUP_HEADER_BYTES);
  bytes.writeUInt32BE(MAGIC, 0);
  bytes.writeUInt16LE(VERSION, 4);
  bytes.writeUInt16LE(TIERS.indexOf(header.tier), 6);
  bytes.writeUInt32LE(header.hour, 8);
  bytes.writeUInt32LE(header.number, 12);
  bytes.writeUInt32LE(header.entries, 16);
  bytes.writeUInt32LE(header.indexBytes, 20);
  bytes.writeUInt32LE(header.blocksBytes, 24);
  bytes.writeBigInt64LE(header.firstNs, 28);
  bytes.writeBigInt64LE(header.lastNs, 36);
  bytes.writeUInt32LE(header.indexChecksum, 44);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 52)), 52);
  return bytes;
}

/** @returns `undefined` when the bytes are not a header of this tier and hour */
export function decodeHeader(bytes: Buffer, tier: Tier, hour: number): GroupHeader | undefined {
  if (bytes.length < GROUP_HEADER_BYTES || bytes.readUInt32BE(0) !== MAGIC) return undefined;
  if (bytes.readUInt32LE(52) !== crc32(bytes.subarray(0, 52)) || bytes.readUInt16LE(4) !== VERSION)
    return undefined;
  const header: GroupHeader = {
    tier: TIERS[bytes.readUInt16LE(6)]!,
    hour: bytes.readUInt32LE(8),
    number: bytes.readUInt32LE(12),
    entries: bytes.readUInt32LE(16),
    indexBytes: bytes.readUInt32LE(20),
    blocksBytes: bytes.readUInt32LE(24),
    firstNs: bytes.readBigInt64LE(28),
    lastNs: bytes.readBigInt64LE(36),
    indexChecksum: bytes.readUInt32LE(44),
  };
  return header.tier === tier && header.hour === hour ? header : undefined;
}

/** @returns `undefined` when the index is damaged */
export function decodeIndex(bytes: Buffer, { indexChecksum }: GroupHeader): BlockIndex | undefined {
  if (crc32(bytes) !== indexChecksum) return undefined;
  const from = new PackedReader(bytes);
  const texts = new TextList();
  for (const text of readTexts(from)) texts.add(text);
  const blocksOf = new Map<string, GroupBlock[]>();
  let at = 0;
  for (let assetsLeft = from.count(); assetsLeft > 0; assetsLeft--) {
    const assetKey = from.sized().toString();
    const blocks: GroupBlock[] = [];
    for (let left = from.count(); left > 0; left--) {
      const entries = from.count();
      const minNs = from.integer();
      const maxNs = minNs + from.integer();
      const length = from.count();
      blocks.push({ assetKey, entries, minNs, maxNs, at, bytes: length, checksum: from.count() });
      at += length;
    }
    blocksOf.set(assetKey, blocks);
  }
  return { texts, blocksOf };
}
