import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ChunkPlace } from './chunk.js';
import { TIERS, type Tier } from './chunk_group.js';

const MS_PER_HOUR = 3_600_000;
/** The number of characters of `2026-11-24T01` in an ISO time. */
const HOUR_NAME_LENGTH = 13;
const FILE_NAME = /^(\d{4,}-\d\d-\d\dT\d\d)\.(signatures|inputs)$/;
const LOG_NAME = /^(\d{4,}-\d\d-\d\dT\d\d)-(\d+)\.log$/;

/** The folder of the logs. It has few files, so each read can list it. */
const LOGS = 'running';

/** The hours of each tier that have a file, ascending. */
export type TierHours = Readonly<Record<Tier, readonly number[]>>;

/** Returns the folder of the past inside the data folder. */
export function pastFolderOf(dataFolder: string): string {
  return join(dataFolder, 'past');
}

/** Returns the path of an hour's file. The names of files sort by time, such as `2026-11-24T01.signatures` (UTC). */
export function tierPath(folder: string, hour: number, tier: Tier): string {
  return join(folder, `${hourName(hour)}.${tier}`);
}

export function logPath(folder: string, { hour, number }: ChunkPlace): string {
  return join(logsFolder(folder), `${hourName(hour)}-${number}.log`);
}

export function logsFolder(folder: string): string {
  return join(folder, LOGS);
}

/** Lists the hours that have a file. Ignores other files. */
export function listHours(folder: string): TierHours {
  const hours: Record<Tier, number[]> = { signatures: [], inputs: [] };
  for (const name of namesIn(folder)) {
    const [, hour, tier] = FILE_NAME.exec(name) ?? [];
    if (hour !== undefined) hours[tier as Tier].push(parseHour(hour));
  }
  for (const tier of TIERS) hours[tier].sort((a, b) => a - b);
  return hours;
}

/** Lists the chunks that have a log, in order. */
export function listLogs(folder: string): ChunkPlace[] {
  const logs: ChunkPlace[] = [];
  for (const name of namesIn(logsFolder(folder))) {
    const [, hour, number] = LOG_NAME.exec(name) ?? [];
    if (hour !== undefined) logs.push({ hour: parseHour(hour), number: Number(number) });
  }
  return logs.sort((a, b) => a.hour - b.hour || a.number - b.number);
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

export const NS_PER_HOUR = 3_600_000_000_000n;

/** Returns the hour since 1970 (UTC) that contains a time. */
export function hourOf(timeNs: bigint): number {
  return Number(timeNs / NS_PER_HOUR);
}

function hourName(hour: number): string {
  return new Date(hour * MS_PER_HOUR).toISOString().slice(0, HOUR_NAME_LENGTH);
}

function parseHour(name: string): number {
  return Date.parse(`${name}:00:00Z`) / MS_PER_HOUR;
}
