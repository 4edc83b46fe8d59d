import type { AssetName } from '../model/asset_map.js';
import { DamagedRecord } from '../records/envelope.js';
import { assetKeyOf } from './chunk.js';
import { countUntil, readBlock } from './entry_block.js';
import type { KeptEntry } from './kept_entry.js';
import { lostBetween } from './lost_hour.js';
import { HourOpener } from './open_hour.js';
import { BlockSequence, type BlockSource, type PastRange } from './past_blocks.js';
import { hourOf } from './past_folder.js';

/**
 * Reads the past from its files. Works on any thread, while another thread writes. All reads use Node's thread pool, except the listing of
 * the logs.
 */
export class PastReader {
  readonly #opener: HourOpener;

  constructor(folder: string) {
    this.#opener = new HourOpener(folder);
  }

  /** Returns the time from which the past is complete; `undefined` while the past is empty. */
  async keptFrom(): Promise<bigint | undefined> {
    for (const hour of this.#opener.hours()) {
      const open = await this.#opener.open(hour);
      try {
        const times = open.parts.flatMap(({ firstNs }) => (firstNs === undefined ? [] : [firstNs]));
        if (times.length > 0) return times.reduce((least, timeNs) => (timeNs < least ? timeNs : least));
      } finally {
        await open.close();
      }
    }
    return undefined;
  }

  /**
   * Returns the entry in force at a time: the last entry that is not later.
   * @throws DamagedRecord when the entry is in a damaged block, or may be in a damaged group or in a lost hour
   */
  async inForce(name: AssetName, atNs: bigint): Promise<KeptEntry | undefined> {
    const hours = this.#opener.hours();
    const hour = hours.findLast((one) => one <= hourOf(atNs));
    if (hour === undefined) return undefined;
    // When the process starts, a price may end at a time in an earlier hour. The file of the next hour begins with this end.
    const next = hours.find((one) => one > hour);
    const late = next === undefined ? undefined : await this.#lastIn(next, name, atNs, 'copies');
    if (late !== undefined) return late;
    const found = await this.#lastIn(hour, name, atNs, 'all');
    if (next === undefined || hour === hourOf(atNs)) return found;
    const lost = await lostBetween(this.#opener, name, hour, next);
    if (lost !== undefined) throw new DamagedRecord(lost.message);
    return found;
  }

  /** Returns whether the aggregates from a time on are missing, because this node never received them or its disk failed. */
  async isMissed(name: AssetName, atNs: bigint): Promise<boolean> {
    try {
      return (await this.inForce(name, atNs))?.kind === 'gap';
    } catch (error) {
      if (error instanceof DamagedRecord) return false;
      throw error;
    }
  }

  /** Returns whether the past has an entry of the asset at this time or later. All earlier entries are then present too. */
  async reaches(name: AssetName, timeNs: bigint): Promise<boolean> {
    const assetKey = assetKeyOf(name);
    for (const hour of this.#opener.hours().filter((one) => one >= hourOf(timeNs))) {
      const open = await this.#opener.open(hour);
      try {
        for (const part of open.parts)
          if ((await part.blocks(assetKey)).some(({ maxNs }) => maxNs >= timeNs)) return true;
      } finally {
        await open.close();
      }
    }
    return false;
  }

  /**
   * Returns the blocks of an asset that have entries in a time range, in order. No file is open between two blocks, and no block is held, so
   * the caller may be slow.
   * @throws DamagedRange when entries of the range are lost
   * @throws PastRemoved when the retention time of entries in the range ends during the read
   */
  blocks(name: AssetName, range: PastRange, withInputs: boolean): BlockSource {
    return new BlockSequence(this.#opener, { name, range, withInputs });
  }

  close(): Promise<void> {
    return this.#opener.close();
  }

  /** @param wanted `copies` if all other entries of the hour are later; damage in the hour then does not matter */
  async #lastIn(
    hour: number,
    name: AssetName,
    atNs: bigint,
    wanted: 'all' | 'copies',
  ): Promise<KeptEntry | undefined> {
    const assetKey = assetKeyOf(name);
    const open = await this.#opener.open(hour);
    // Damage between this entry and the asset's next entry may have lost the entry in force.
    let damage = open.damageAtEnd;
    try {
      for (const part of open.parts.toReversed()) {
        damage ??= part.damageAfter;
        const blocks = await part.blocks(assetKey);
        for (let i = blocks.length - 1; i >= 0; i--) {
          if (blocks[i]!.minNs > atNs) continue;
          const { bytes, texts } = await part.read(assetKey, i, true);
          // The times of all entries up to the wanted entry must be read, but only the wanted entry is decoded.
          const { count, hasLater } = countUntil(bytes.signatures, atNs);
          const [found] = count === 0 ? [] : readBlock(name, bytes, texts, count - 1);
          const isNewest = i === blocks.length - 1 && !hasLater;
          if (isNewest && damage !== undefined && wanted === 'all') throw new DamagedRecord(damage);
          return found;
        }
        if (blocks.length > 0) damage = undefined;
        damage ??= part.damageBefore;
      }
      if (damage !== undefined && wanted === 'all') throw new DamagedRecord(damage);
      return undefined;
    } finally {
      await open.close();
    }
  }
}
