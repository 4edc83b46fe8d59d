import { WorkTurn } from '../disk/work_turn.js';
import type { HourList } from './hour_list.js';
import { HourReader, type LinePlace, type OpenedHour } from './hour_reader.js';
import { LostRange } from './lost_range.js';
import { nameOfKey, stateText, type WrittenEntry } from './past_entry.js';

/**
 * Reads the newest entry of each asset from the last hour, which has copies of all that were in force at its beginning. An asset whose newest
 * entry may be damaged has a gap.
 */
export async function newestIn(
  folder: string,
  { hours }: HourList,
  signal: AbortSignal,
): Promise<Map<string, WrittenEntry>> {
  const newest = new Map<string, WrittenEntry>();
  const last = hours.at(-1);
  if (last === undefined) return newest;
  const open = await new HourReader(folder, () => true).open(last);
  const turn = new WorkTurn();
  for (const [assetKey, place] of await lastPlaces(open)) {
    newest.set(assetKey, await entryAt(assetKey, place, open));
    if (!turn.isOver) continue;
    await turn.next();
    signal.throwIfAborted();
  }
  return newest;
}

/** Returns the last place of each asset. A damaged index is damage of the hour. */
async function lastPlaces(open: OpenedHour): Promise<Map<string, LinePlace>> {
  const places = new Map<string, LinePlace>();
  for (const group of open.groups)
    for (const assetKey of await open.assetKeys(group).catch(() => []))
      places.set(assetKey, (await open.blocks(assetKey, group)).at(-1)!);
  return places;
}

async function entryAt(assetKey: string, place: LinePlace, { damage }: OpenedHour): Promise<WrittenEntry> {
  const read = async (withInputs: boolean) => {
    const block = await place.read(withInputs);
    return block.entry(block.length - 1);
  };
  try {
    const entry = await read(true).catch(() => read(false));
    const lost = damage.find(({ lastNs }) => lastNs > entry.timeNs);
    if (lost !== undefined)
      return gapOf(assetKey, lost.firstNs > entry.timeNs ? lost.firstNs : entry.timeNs + 1n);
    const { kind, timeNs } = entry;
    const text = entry.kind === 'priced' ? entry.line : stateText(entry.kind, nameOfKey(assetKey), timeNs);
    return { assetKey, kind, timeNs, text };
  } catch (error) {
    if (error instanceof LostRange) return gapOf(assetKey, place.lastNs);
    throw error;
  }
}

function gapOf(assetKey: string, timeNs: bigint): WrittenEntry {
  return { assetKey, kind: 'gap', timeNs, text: stateText('gap', nameOfKey(assetKey), timeNs) };
}
