import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { DamagedRecord } from '../records/envelope.js';
import { type BlockIndex, decodeIndex, GROUP_HEADER_BYTES, type Tier } from './chunk_group.js';
import { findGroups, type PlacedGroup, readAt } from './hour_file.js';
import type { SharedFile } from './open_files.js';

/** The known groups of a file. Files only grow, so they remain valid. */
interface KnownFile {
  groups: readonly PlacedGroup[];
  end: number;
  damagedAt: readonly number[];
  hasTail: boolean;
}

/** The largest number of files in memory, and of indexes. An index of 1,000 assets takes about 200 kB. */
const FILES_MAX = 256;
const INDEXES_MAX = 64;

/** An open file of an hour and its groups. */
export interface OpenTierFile {
  readonly path: string;
  readonly groups: readonly PlacedGroup[];
  /** The offsets of damaged bytes, where entries are missing. */
  readonly damagedAt: readonly number[];
  /** True when bytes of an unfinished or damaged group follow the last group. */
  readonly hasTail: boolean;
  /** @throws DamagedRecord when the index is damaged */
  index(group: PlacedGroup): Promise<BlockIndex>;
  /** @throws DamagedRecord when the block is damaged */
  block(group: PlacedGroup, assetKey: string, index: number): Promise<Buffer>;
}

/** Reads the files of hours, and remembers the positions of their groups and blocks. */
export class HourIndex {
  readonly #files = new Map<string, KnownFile>();
  readonly #indexes = new Map<string, BlockIndex>();

  async read({ file, path }: SharedFile, hour: number, tier: Tier): Promise<OpenTierFile> {
    const known = await this.#refresh(file, path, hour, tier);
    return {
      path,
      groups: known.groups,
      damagedAt: known.damagedAt,
      hasTail: known.hasTail,
      index: (group) => this.#index(file, path, group),
      block: (group, assetKey, index) => this.#block(file, path, group, assetKey, index),
    };
  }

  async #refresh(file: FileHandle, path: string, hour: number, tier: Tier): Promise<KnownFile> {
    const before = this.#files.get(path) ?? { groups: [], end: 0, damagedAt: [], hasTail: false };
    const found = await findGroups(file, tier, hour, before.end);
    const known: KnownFile = {
      groups: found.groups.length === 0 ? before.groups : [...before.groups, ...found.groups],
      end: found.end,
      damagedAt: [...before.damagedAt, ...found.damagedAt],
      hasTail: found.hasTail,
    };
    remember(this.#files, path, known, FILES_MAX);
    return known;
  }

  async #index(file: FileHandle, path: string, { at, header }: PlacedGroup): Promise<BlockIndex> {
    const key = `${path} ${at}`;
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    const index = decodeIndex(await readAt(file, at + GROUP_HEADER_BYTES, header.indexBytes), header);
    if (index === undefined)
      throw new DamagedRecord(
        `the index of group ${header.number} of ${path} is damaged; the disk may be failing`,
      );
    remember(this.#indexes, key, index, INDEXES_MAX);
    return index;
  }

  async #block(
    file: FileHandle,
    path: string,
    group: PlacedGroup,
    assetKey: string,
    index: number,
  ): Promise<Buffer> {
    const { at, header } = group;
    const { blocksOf } = await this.#index(file, path, group);
    const block = blocksOf.get(assetKey)?.[index];
    if (block === undefined)
      throw new DamagedRecord(`group ${header.number} of ${path} lacks a block of ${assetKey}`);
    const start = at + GROUP_HEADER_BYTES + header.indexBytes + block.at;
    const bytes = await readAt(file, start, block.bytes);
    if (crc32(bytes) !== block.checksum)
      throw new DamagedRecord(
        `the block of ${assetKey} at byte ${start} of ${path} is damaged: its checksum does not fit; the disk may be failing`,
      );
    return bytes;
  }
}

/** Adds a value. Removes the oldest value if there are too many. */
function remember<Value>(values: Map<string, Value>, key: string, value: Value, valuesMax: number): void {
  values.delete(key);
  values.set(key, value);
  if (values.size > valuesMax) values.delete(values.keys().next().value!);
}
