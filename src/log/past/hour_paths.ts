import { readdirSync } from 'node:fs';
import { join } from 'node:path';

export const NS_PER_HOUR = 3_600_000_000_000n;
const MS_PER_HOUR = 3_600_000;
/** The number of characters of `2026-11-24T01` in an ISO time. */
const HOUR_NAME_LENGTH = 13;
const FILE_NAME = /^(\d{4,}-\d\d-\d\dT\d\d)\.(jsonl|inputs)$/;

/** The files of an hour: lines, and inputs. */
export const FILE_KINDS = ['jsonl', 'inputs'] as const;
export type FileKind = (typeof FILE_KINDS)[number];

/** Returns the folder of the past inside the data folder. */
export function pastFolderOf(dataFolder: string): string {
  return join(dataFolder, 'past');
}

/** Returns the path of an hour's file, such as `2026-11-24T01.jsonl` (UTC). The names of files sort by time. */
export function hourPath(folder: string, hour: number, kind: FileKind): string {
  return join(folder, `${hourName(hour)}.${kind}`);
}

/** Lists the files of hours in a folder. Ignores other files. */
export function listHourFiles(folder: string): { readonly hour: number; readonly kind: FileKind }[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return names.flatMap((name) => {
    const [, hour, kind] = FILE_NAME.exec(name) ?? [];
    return hour === undefined ? [] : [{ hour: parseHour(hour), kind: kind as FileKind }];
  });
}

/** Returns the hour since 1970 (UTC) that contains a time. */
export function hourOf(timeNs: bigint): number {
  return Number(timeNs / NS_PER_HOUR);
}

export function hourName(hour: number): string {
  return new Date(hour * MS_PER_HOUR).toISOString().slice(0, HOUR_NAME_LENGTH);
}

export function parseHour(name: string): number {
  return Date.parse(`${name}:00:00Z`) / MS_PER_HOUR;
}
