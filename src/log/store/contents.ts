import { accessSync, constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { SignatureType } from '../../model/asset.js';
import { NS_PER_SECOND } from '../../model/time.js';
import { DAY_S } from '../../wire/resolution.js';
import type { Holding } from '../records/holding.js';
import { checkCandles } from './candle_check.js';
import { CandleFiles } from './candle_files.js';
import { FORMAT_FILE, systemReason } from './data_folder.js';
import { hasFormat } from './data_format.js';
import { isFolderInUse } from './folder_lock.js';
import { candlesFolderOf } from './kept_candles.js';
import { type LogPlace, openLogProgress } from './log_progress.js';
import { openMarks } from './marks.js';
import { type OpenedState, readState } from './state_reader.js';
import { SNAPSHOT_FILE } from './state_snapshot.js';
import { StreamingIds } from './streaming_ids.js';

/** The contents of a data folder. */
export interface FolderContents {
  /** True while a service uses the folder. */
  readonly isInUse: boolean;
  readonly format: number;
  /** The size of all files. */
  readonly bytes: number;
  /** The files by part of the folder. */
  readonly parts: readonly PartContents[];
  /** The number of meanings in the list of streaming IDs. */
  readonly streamingIds: number;
  /** The number of the newest segment of the log. */
  readonly segment: number;
  /** True if the last process wrote everything before it ended. False while a service uses the folder. */
  readonly isClean: boolean;
  /** The newest UNIX second of all assets, up to which the folder is known. */
  readonly newestSecond: number | undefined;
  /** The last record of the cluster's log in the folder; `undefined` if the folder has no record of a log. */
  readonly log: LogPlace | undefined;
  /** The assets, ascending by symbol. */
  readonly assets: readonly AssetContents[];
  /** The damaged parts, each described in one sentence. */
  readonly damage: readonly string[];
}

/** A file or a folder in the data folder. */
export interface PartContents {
  readonly name: string;
  readonly files: number;
  readonly bytes: number;
}

/** The data of an asset. */
export interface AssetContents {
  readonly symbol: string;
  readonly signatureType: SignatureType;
  readonly state: Holding['state'] | undefined;
  /** The UNIX second since which the asset has this state. */
  readonly newestSecond: number | undefined;
  /** The number of publishers whose last input the folder has. */
  readonly inputs: number;
  /** The start of the first day with candles, in UNIX seconds; `undefined` without candles. */
  readonly firstDaySecond: number | undefined;
}

/** A step of work on a whole folder. `done` has the same unit as `total`. */
export type OnProgress = (step: string, done: number, total?: number) => void;

/** Checks a part of a data folder. Resolves with its damage, each in one sentence. */
export type PartCheck = (dir: string, onProgress: OnProgress) => Promise<readonly string[]>;

/** The largest number of reads while a running service moves segments of the log into their files. */
const READS_MAX = 5;

/**
 * Reads a whole data folder and checks it, even while a service uses the folder.
 * @param checkMore checks the parts of the folder that this room does not know
 * @throws Error with a message of one sentence when there is no data, or when the state is damaged
 */
export async function readContents(
  dir: string,
  onProgress: OnProgress = () => {},
  checkMore: PartCheck = async () => [],
): Promise<FolderContents> {
  requireData(dir);
  const isInUse = await isFolderInUse(dir);
  const opened = await readUnchanged(dir);
  const { state, log, isClean } = opened;
  const damage = [...opened.damage];
  const files = new CandleFiles(candlesFolderOf(dir), (reason) => damage.push(reason));
  const newestMinute = Math.floor((state.newestSecond() ?? 0) / 60);
  const lost = await checkCandles(files, newestMinute, (...of) => onProgress('checking candles', ...of));
  const parts = partsOf(dir);
  const inputs = new Map<string, number>();
  const nameOf = ({ symbol, signatureType }: Pick<AssetContents, 'symbol' | 'signatureType'>) =>
    `${symbol} ${signatureType}`;
  for (const { asset } of state.inputs.values())
    inputs.set(nameOf(asset), (inputs.get(nameOf(asset)) ?? 0) + 1);
  const assets = [...state.assets.values()].map(({ asset, newest }): AssetContents => {
    const days = files.days(asset);
    return {
      ...asset,
      state: newest?.state,
      newestSecond: newest && Number(newest.timeNs / NS_PER_SECOND),
      inputs: inputs.get(nameOf(asset)) ?? 0,
      firstDaySecond: days && days.first * DAY_S,
    };
  });
  return {
    isInUse,
    format: Number(readFileSync(join(dir, FORMAT_FILE), 'utf8')),
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    parts,
    streamingIds: StreamingIds.read(dir).size,
    segment: log.last.segment,
    isClean: isClean && !isInUse,
    newestSecond: state.newestSecond(),
    log: openLogProgress(
      openMarks(
        state,
        () => {},
        async () => {},
      ),
    ).position,
    assets: assets.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)),
    damage: [...damage, ...lost, ...(await checkMore(dir, onProgress))],
  };
}

/** Returns the damage of a data folder in one sentence; `undefined` for a folder without damage or without data. */
export async function findFolderDamage(dir: string, checkMore?: PartCheck): Promise<string | undefined> {
  try {
    if (!hasFormat(dir)) return undefined;
    const { damage } = await readContents(dir, undefined, checkMore);
    const more = damage.length > 1 ? `; and ${damage.length - 1} more` : '';
    return damage.length === 0 ? undefined : `${damage[0]}${more}`;
  } catch (error) {
    return (error as Error).message;
  }
}

/** @throws Error with one sentence when the folder has no data in the format of this program */
export function requireData(dir: string): void {
  const file = join(dir, FORMAT_FILE);
  try {
    if (hasFormat(dir)) {
      accessSync(file, constants.R_OK);
      return;
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw new Error(`${dir} cannot be read: ${(error as Error).message}`);
    if (code !== 'ENOTDIR')
      throw new Error(`${file} cannot be read: ${systemReason(error)}`, { cause: error });
  }
  throw new Error(`${dir} has no file "${FORMAT_FILE}": it is not a data folder, which storage.dir names`);
}

/** Reads the state again if a running service replaced the snapshot meanwhile. */
async function readUnchanged(dir: string): Promise<OpenedState> {
  for (let read = 1; ; read++) {
    const before = snapshotMark(dir);
    const opened = await readState(dir, () => {});
    if (snapshotMark(dir) === before || read === READS_MAX) return opened;
  }
}

/** Returns a text that changes when the snapshot is replaced. */
export function snapshotMark(dir: string): string {
  const stat = statSync(join(dir, SNAPSHOT_FILE), { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino} ${stat.mtimeNs}`;
}

function partsOf(dir: string): PartContents[] {
  const parts = new Map<string, { files: number; bytes: number }>();
  for (const path of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
    const stat = statSync(join(dir, path), { throwIfNoEntry: false });
    if (stat?.isFile() !== true) continue;
    const name = path.split('/', 1)[0]!;
    const part = parts.get(name) ?? { files: 0, bytes: 0 };
    parts.set(name, { files: part.files + 1, bytes: part.bytes + Math.min(stat.size, stat.blocks * 512) });
  }
  return [...parts].map(([name, part]) => ({ name, ...part })).sort((a, b) => (a.name < b.name ? -1 : 1));
}
