import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DAY_S } from '../wire/resolution.js';
import { openCheckedFolder, refuseDamage } from './checked_folder.js';
import { DATA_FILE } from './data_folder.js';
import type { OnProgress } from './folder_progress.js';
import { JournalTable } from './journal_table.js';
import type { ReadFolder } from './lmdb/folder.js';
import { type LogPlace, openLogProgress } from './log_progress.js';
import { type OpenTables, openTables } from './open_tables.js';
import { StreamingIds } from './streaming_ids.js';
import type { StoredRecord } from './table.js';

/** The contents of a data folder. */
export interface FolderContents {
  /** True while a service uses the folder. */
  readonly isInUse: boolean;
  /** The size of the data file. */
  readonly fileBytes: number;
  /** The number of meanings in the list of streaming IDs. */
  readonly streamingIds: number;
  /** The contents by table. */
  readonly tables: Readonly<Record<keyof OpenTables, TableContents>>;
  /** The last record of the cluster's log in the folder; `undefined` if the folder has no record of a log. */
  readonly log: LogPlace | undefined;
  /** The assets, ascending by key. */
  readonly assets: readonly AssetContents[];
  /** The reasons why records are damaged, for the first damaged records. `damagedRecords` is the number of all damaged records. */
  readonly damage: readonly string[];
  readonly damagedRecords: number;
}

export interface TableContents {
  readonly records: number;
  /** The size of the table's values. */
  readonly bytes: number;
}

/** The records of an asset. */
export interface AssetContents {
  /** The asset's name in records: the symbol, and the signature type if the symbol has two types. */
  readonly assetKey: string;
  readonly records: number;
  readonly bytes: number;
  /** The number of publishers whose last input the folder has. */
  readonly inputs: number;
  /** The UNIX second of the last record of `recent`; `undefined` without a record. */
  readonly newestSecond: number | undefined;
  /** The start of the first day with candles, in UNIX seconds; `undefined` without candles. */
  readonly firstDaySecond: number | undefined;
}

/** The largest number of damaged records in `damage`. */
const NAMED_MAX = 20;
const HOURS_PER_DAY = 24;
/** The interval of progress reports, in records. */
const TELL_RECORDS = 1_000;

/**
 * Reads a whole data folder and checks all records, even while a service uses the folder. lmdb lets other processes read, and
 * preserves the state that they read.
 * @throws Error with a message of one sentence when there is no data, or when the structure of the data is damaged
 */
export async function readContents(dir: string, onProgress: OnProgress = () => {}): Promise<FolderContents> {
  const { folder, isInUse } = await openCheckedFolder(dir, onProgress);
  const file = join(dir, DATA_FILE);
  try {
    const streamingIds = StreamingIds.read(dir).size;
    const release = folder.holdState();
    try {
      // A running service does not change the held state, but it may write the page with the newest state during the read.
      if (isInUse) refuseDamage(file, onProgress, READS_MAX);
      return { isInUse, fileBytes: statSync(file).size, streamingIds, ...readRecords(folder, onProgress) };
    } finally {
      release();
    }
  } finally {
    await folder.close();
  }
}

/** Returns the damage of a data folder in one sentence; `undefined` for a folder without damage or without data. */
export async function findFolderDamage(dir: string): Promise<string | undefined> {
  const size = statSync(join(dir, DATA_FILE), { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) return undefined;
  try {
    const { damagedRecords, damage } = await readContents(dir);
    return damagedRecords === 0 ? undefined : `${damagedRecords} records are damaged; ${damage[0]}`;
  } catch (error) {
    return (error as Error).message;
  }
}

const READS_MAX = 3;

type Records = Pick<FolderContents, 'tables' | 'log' | 'assets' | 'damage' | 'damagedRecords'>;

function readRecords(folder: ReadFolder, onProgress: OnProgress): Records {
  const opened: JournalTable<unknown>[] = [];
  const tables = openTables({
    table(name, codec) {
      const table = new JournalTable(folder.openTable(name), codec, () => {});
      opened.push(table);
      return table;
    },
  });
  const total = opened.reduce((sum, table) => sum + table.recordCount, 0);
  let done = 0;
  const damage: string[] = [];
  let damagedRecords = 0;
  const assets = new Map<string, Writable<AssetContents>>();

  function count(name: keyof OpenTables): TableContents {
    let records = 0;
    let bytes = 0;
    for (const record of tables[name].recordsOnDisk()) {
      records++;
      bytes += record.bytes;
      if (record.damage !== undefined) {
        damagedRecords++;
        if (damage.length < NAMED_MAX) damage.push(`${name}: ${record.damage}`);
      }
      if (name !== 'marks') addTo(assets, name, record);
      if (++done % TELL_RECORDS === 0) onProgress('checking records', done, Math.max(done, total));
    }
    return { records, bytes };
  }

  const counted = {
    seconds: count('seconds'),
    inputs: count('inputs'),
    hours: count('hours'),
    days: count('days'),
    quarters: count('quarters'),
    marks: count('marks'),
  };
  const byKey = [...assets.values()].sort((a, b) => (a.assetKey < b.assetKey ? -1 : 1));
  const log = openLogProgress(tables.marks).position;
  return { tables: counted, log, assets: byKey, damage, damagedRecords };
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function addTo(
  assets: Map<string, Writable<AssetContents>>,
  table: Exclude<keyof OpenTables, 'marks'>,
  { key, bytes }: StoredRecord,
): void {
  const assetKey = String(table === 'seconds' ? key[1] : key[0]);
  let asset = assets.get(assetKey);
  if (asset === undefined) {
    asset = { assetKey, records: 0, bytes: 0, inputs: 0, newestSecond: undefined, firstDaySecond: undefined };
    assets.set(assetKey, asset);
  }
  asset.records++;
  asset.bytes += bytes;
  if (table === 'inputs') asset.inputs++;
  else if (table === 'seconds') asset.newestSecond = Math.max(Number(key[0]), asset.newestSecond ?? 0);
  else {
    const day = table === 'hours' ? Math.floor(Number(key[1]) / HOURS_PER_DAY) : Number(key[1]);
    asset.firstDaySecond = Math.min(day * DAY_S, asset.firstDaySecond ?? Number.POSITIVE_INFINITY);
  }
}
