import { DamagedList, EMPTY_LIST, type HourList, type ListedHour, readHourList } from './hour_list.js';
import { listHourFiles } from './hour_paths.js';
import { HourReader } from './hour_reader.js';
import { LostRange, PastChanged } from './lost_range.js';

/** The largest number of damages in an hour that are named. */
const NAMED_MAX = 5;

/**
 * Checks every file of the past, also while a service writes to it.
 * @returns the damage, each in one sentence
 */
export async function checkPast(
  folder: string,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<string[]> {
  let list: HourList;
  try {
    list = listOf(folder);
  } catch (error) {
    if (error instanceof DamagedList) return [error.message];
    throw error;
  }
  const reader = new HourReader(folder, (listed) =>
    listOf(folder).hours.some(({ hour }) => hour === listed.hour),
  );
  const damage: string[] = [];
  for (const [done, listed] of list.hours.entries()) {
    damage.push(...(await damageIn(reader, listed)));
    onProgress(done + 1, list.hours.length);
  }
  return damage;
}

/** @throws DamagedList when the list is damaged, or missing beside files of hours */
function listOf(folder: string): HourList {
  const list = readHourList(folder);
  if (list === undefined && listHourFiles(folder).length > 0)
    throw new DamagedList(`the list of hours in ${folder} is missing`);
  return list ?? EMPTY_LIST;
}

async function damageIn(reader: HourReader, listed: ListedHour): Promise<string[]> {
  const found = new Set<string>();
  /** Notes damage. An hour whose retention time has ended meanwhile has none. */
  const noting = async (read: () => Promise<void>) => {
    try {
      await read();
    } catch (error) {
      if (error instanceof LostRange) found.add(error.message);
      else if (!(error instanceof PastChanged)) throw error;
    }
  };
  await noting(async () => {
    const open = await reader.open(listed);
    for (const { damage } of open.damage) if (damage !== undefined) found.add(damage);
    for (const group of open.groups)
      await noting(async () => {
        for (const assetKey of await open.assetKeys(group))
          for (const place of await open.blocks(assetKey, group))
            await noting(async () => void (await place.read(true)));
      });
  });
  const named = [...found];
  return named.length <= NAMED_MAX
    ? named
    : [...named.slice(0, NAMED_MAX), `and ${named.length - NAMED_MAX} more in this hour`];
}
