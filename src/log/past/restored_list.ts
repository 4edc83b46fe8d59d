import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { findGroups } from './found_groups.js';
import { encodeHead } from './hour_group.js';
import {
  DamagedList,
  EMPTY_LIST,
  type HourList,
  type ListedHour,
  readHourList,
  writeHourList,
} from './hour_list.js';
import { hourPath, listHourFiles } from './hour_paths.js';

/**
 * Reads the list of hours. Makes it again from the files if it is damaged, or missing beside files. Then nobody knows of hours whose files are
 * missing too.
 */
export async function restoreHourList(
  folder: string,
  logger: { error(text: string): void } | undefined,
): Promise<HourList> {
  let damage: string | undefined;
  try {
    const list = readHourList(folder);
    if (list !== undefined) return list;
  } catch (error) {
    if (!(error instanceof DamagedList)) throw error;
    damage = error.message;
  }
  const files = listHourFiles(folder).filter(({ kind }) => kind === 'jsonl');
  if (files.length > 0) damage ??= `the list of hours in ${folder} is missing`;
  if (damage !== undefined)
    logger?.error(`the past is damaged: ${damage}; the list is made again from the files of the hours`);
  const hours: ListedHour[] = [];
  let last = EMPTY_LIST.last;
  for (const { hour } of files.sort((a, b) => a.hour - b.hour)) {
    const found = await hourIn(folder, hour);
    if (found === undefined) continue;
    hours.push(found.listed);
    if (found.last.segment > last.segment) last = found.last;
  }
  const list = { last, hours };
  await writeHourList(folder, list);
  return list;
}

/** Finds out what a file has. @returns `undefined` when it has no whole group */
async function hourIn(
  folder: string,
  hour: number,
): Promise<{ readonly listed: ListedHour; readonly last: HourList['last'] } | undefined> {
  const path = hourPath(folder, hour, 'jsonl');
  const { groups = [] } = (await findGroups(path, { hour, bytes: (await stat(path)).size })) ?? {};
  const head = groups.at(-1);
  if (head === undefined) return undefined;
  const times = groups.flatMap(({ first, last }) =>
    first === undefined ? [] : [BigInt(first), BigInt(last!)],
  );
  const losses = groups.flatMap(({ lost = [] }) => lost);
  const listed = {
    hour,
    firstNs: times.reduce<bigint | undefined>((least, one) => (least! < one ? least : one), undefined),
    lastNs: times.reduce<bigint | undefined>((most, one) => (most! > one ? most : one), undefined),
    bytes: head.end,
    inputsBytes: existsSync(hourPath(folder, hour, 'inputs')) ? head.inputs : 0,
    crc: groups.reduce((crc, one) => crc32(encodeHead(one), crc), 0),
    losses: losses.map(([first, to]) => ({ firstNs: BigInt(first), lastNs: BigInt(to) })),
  };
  return { listed, last: { segment: head.segment, id: head.id } };
}
