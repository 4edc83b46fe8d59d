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
import { hourPath, listHourFiles, NS_PER_HOUR } from './hour_paths.js';

/**
 * Reads the list of hours. Makes it again from the files if it is damaged, or missing beside files. Then nobody knows of hours whose files are
 * missing too. Bytes after the last whole group of a file are a loss: only the list could tell that they are an interrupted move.
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
  let lostFromNs: bigint | undefined;
  for (const { hour } of files.sort((a, b) => a.hour - b.hour)) {
    const found = await hourIn(folder, hour);
    if (found !== undefined) {
      const { listed } = found;
      const isLost = lostFromNs !== undefined && listed.firstNs !== undefined && lostFromNs < listed.firstNs;
      const before = isLost ? [{ firstNs: lostFromNs!, lastNs: listed.firstNs! - 1n }] : [];
      hours.push({ ...listed, losses: [...before, ...listed.losses] });
      if (listed.firstNs !== undefined) lostFromNs = undefined;
      if (found.last.segment > last.segment) last = found.last;
    }
    if (found?.hasTail !== false)
      lostFromNs ??= 1n + (hours.at(-1)?.lastNs ?? BigInt(hour) * NS_PER_HOUR - 1n);
  }
  const list = { last, lostFromNs, hours };
  await writeHourList(folder, list);
  return list;
}

interface FoundHour {
  readonly listed: ListedHour;
  readonly last: HourList['last'];
  /** True when bytes follow the last whole group. */
  readonly hasTail: boolean;
}

/** Finds out what a file has. @returns `undefined` when it has no whole group */
async function hourIn(folder: string, hour: number): Promise<FoundHour | undefined> {
  const path = hourPath(folder, hour, 'jsonl');
  const { size } = await stat(path);
  const { groups = [] } = (await findGroups(path, { hour, bytes: size })) ?? {};
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
  return { listed, last: { segment: head.segment, id: head.id }, hasTail: size > head.end };
}
