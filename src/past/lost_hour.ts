import type { AssetName } from '../model/asset_map.js';
import { DamagedRecord } from '../records/envelope.js';
import { assetKeyOf } from './chunk.js';
import { readBlock } from './entry_block.js';
import type { KeptEntry } from './kept_entry.js';
import type { HourOpener } from './open_hour.js';
import { hourOf, NS_PER_HOUR } from './past_folder.js';

/** The entries that an hour without files has lost. Both times are included. */
export interface LostEntries {
  readonly message: string;
  readonly firstNs: bigint;
  readonly lastNs: bigint;
}

/**
 * Finds the entries of an asset that are lost, because all files of an hour are missing. An hour begins with copies of the entries that were in
 * force before it, so a copy from an hour without files shows the loss. Hours in which the service was stopped are no loss.
 * @param earlier an hour with files, or -1
 * @param later the next hour with files
 */
export async function lostBetween(
  opener: HourOpener,
  name: AssetName,
  earlier: number,
  later: number,
): Promise<LostEntries | undefined> {
  if (earlier < 0 || later - earlier < 2) return undefined;
  try {
    const before = (await blockOf(opener, name, later, 'first')).filter(
      ({ timeNs }) => hourOf(timeNs) < later,
    );
    const copy = before.findLast(({ isCarried, timeNs }) => isCarried && hourOf(timeNs) > earlier);
    if (copy === undefined) return undefined;
    const last = (await blockOf(opener, name, earlier, 'last')).at(-1);
    if (last?.kind === 'gap' || before.some(({ kind }) => kind === 'gap')) return undefined;
    const firstNs = last === undefined ? BigInt(earlier + 1) * NS_PER_HOUR : last.timeNs + 1n;
    const message = `the files of an hour before ${opener.pathOf(later)} are missing`;
    return { message, firstNs, lastNs: copy.timeNs };
  } catch (error) {
    if (error instanceof DamagedRecord) return undefined;
    throw error;
  }
}

/** Reads the first or the last block of an asset in an hour, without inputs. */
async function blockOf(
  opener: HourOpener,
  name: AssetName,
  hour: number,
  which: 'first' | 'last',
): Promise<KeptEntry[]> {
  const assetKey = assetKeyOf(name);
  const open = await opener.open(hour, false);
  try {
    for (const part of which === 'first' ? open.parts : open.parts.toReversed()) {
      const { length } = await part.blocks(assetKey);
      if (length === 0) continue;
      const { bytes, texts } = await part.read(assetKey, which === 'first' ? 0 : length - 1, false);
      return [...readBlock(name, bytes, texts)];
    }
    return [];
  } finally {
    await open.close();
  }
}
