import { rm } from 'node:fs/promises';
import type { Logger } from 'pino';
import { WorkTurn } from '../log/work_turn.js';
import { type Chunk, type ChunkPlace, nameOfKey } from './chunk.js';
import { readBlock } from './entry_block.js';
import { lastNumberOf } from './hour_file.js';
import { gapFrom, isAfter, type KeptEntry } from './kept_entry.js';
import { listHours, listLogs, logPath } from './past_folder.js';
import { LogReader } from './running_log.js';

/** The contents of the previous process's logs. */
export interface LastLogs {
  /** The chunks that must still be written into the files of their hours. */
  readonly chunks: Chunk[];
  /** The newest entry of each asset in the chunks. */
  readonly newest: ReadonlyMap<string, KeptEntry>;
  /** The time of the last entry before damage, which lost the rest of a log; `undefined` without damage. */
  readonly damagedAfterNs: bigint | undefined;
  /** The last used place. */
  readonly lastPlace: ChunkPlace;
}

/** Reads the logs of the previous process. Removes logs without entries. */
export async function readLastLogs(
  folder: string,
  logger: Pick<Logger, 'error'> | undefined,
): Promise<LastLogs> {
  const hours = listHours(folder);
  const chunks: Chunk[] = [];
  const newest = new Map<string, KeptEntry>();
  let damagedAfterNs: bigint | undefined;
  let lastLog: ChunkPlace = { hour: 0, number: 0 };
  for (const place of listLogs(folder)) {
    const log = await LogReader.open(folder, place);
    if (log !== undefined) {
      await log.refresh();
      if (log.damage !== undefined) {
        logger?.error(`the past: ${log.damage}`);
        damagedAfterNs = log.chunk.lastNs;
      }
      await readNewest(log.chunk, newest);
      await log.close();
    }
    if (log !== undefined && log.chunk.blocksOf.size > 0) chunks.push(log.chunk);
    else await rm(logPath(folder, place));
    lastLog = place;
  }
  const lastPlace = await placeAfter(folder, hours.signatures.at(-1), lastLog);
  return { chunks, newest, damagedAfterNs, lastPlace };
}

/**
 * Returns a gap for each asset if damage lost the rest of a log. Until an asset's next entry its aggregate is then unknown.
 * @param inForce the keys of the assets that have an aggregate in force
 */
export function gapsAfter(
  { newest, damagedAfterNs }: LastLogs,
  inForce: Iterable<string>,
): { readonly assetKey: string; readonly entry: KeptEntry }[] {
  if (damagedAfterNs === undefined) return [];
  return [...new Set([...newest.keys(), ...inForce])].map((assetKey) => ({
    assetKey,
    entry: gapFrom((newest.get(assetKey)?.timeNs ?? damagedAfterNs) + 1n),
  }));
}

async function readNewest(chunk: Chunk, newest: Map<string, KeptEntry>): Promise<void> {
  const turn = new WorkTurn();
  for (const assetKey of chunk.blocksOf.keys()) {
    const last = chunk.blocks(assetKey).length - 1;
    let entry: KeptEntry | undefined;
    for (const one of readBlock(nameOfKey(assetKey), chunk.bytesOf(assetKey, last), chunk.texts)) entry = one;
    const known = newest.get(assetKey);
    if (entry !== undefined && (known === undefined || isAfter(entry, known))) newest.set(assetKey, entry);
    if (turn.isOver) await turn.next();
  }
}

async function placeAfter(
  folder: string,
  lastHour: number | undefined,
  lastLog: ChunkPlace,
): Promise<ChunkPlace> {
  if (lastHour === undefined || lastHour < lastLog.hour) return lastLog;
  const number = await lastNumberOf(folder, lastHour);
  return { hour: lastHour, number: lastHour === lastLog.hour ? Math.max(number, lastLog.number) : number };
}
