import type { AssetName } from '../model/asset_map.js';
import { DamagedRecord } from '../records/envelope.js';
import type { Holding } from '../records/holding.js';
import { type Commit, followHousekeeping } from './housekeeping.js';
import { JournalTable } from './journal_table.js';
import { openFolderToRead } from './lmdb/folder.js';
import { type OpenTables, openTables } from './open_tables.js';
import { readSeries, type StoreReader } from './reader.js';
import { RecordKeys } from './record_keys.js';
import { type AssetSeries, isBefore, recordHolding } from './series.js';
import { loadSeries, type SeriesIndex } from './series_index.js';
import type { Codec, CommitPart } from './table.js';

/**
 * The store of a thread that only serves. This store reads committed records from disk. Records that wait for a commit come from the
 * writing thread. Between {@link behind} and {@link load}, reads throw {@link NotLoaded}.
 */
export interface Follower extends StoreReader {
  /** Receives a record of the writing thread. */
  recorded(asset: AssetName, holding: Holding): void;
  /** Called when a commit takes all records that this store has received so far. */
  committing(commit: Commit): void;
  /** @param isOnDisk false if the commit failed and its records wait again */
  committed(isOnDisk: boolean): void;
  /** Drops all received records, because this thread has fallen behind. */
  behind(): void;
  /**
   * Reads the disk. At this time the disk has every record from before the call of {@link behind}, and may have some of the records
   * received after that call.
   */
  load(): void;
  close(): Promise<void>;
}

/** The error of a read while the thread lacks records that it missed. The thread reads the disk once the disk has these records. */
export class NotLoaded extends Error {
  override readonly name = 'NotLoaded';
}

/** The state of a {@link Follower} after one reading of the disk. */
interface Loaded {
  readonly tables: OpenTables;
  readonly parts: readonly CommitPart[];
  readonly index: SeriesIndex;
  isCommitting: boolean;
}

/**
 * @param starkSymbols the symbols from the writing thread: `Store.starkSymbols`
 * @param onDamage called when a read finds a damaged record
 */
export function openFollower(
  dir: string,
  starkSymbols: ReadonlySet<string>,
  onDamage: (reason: string) => void,
): Follower {
  const folder = openFolderToRead(dir);
  const recordKeys = new RecordKeys(starkSymbols);
  let loaded: Loaded | undefined;
  let toldSince: { readonly asset: AssetName; readonly holding: Holding }[] = [];

  function load(): Loaded {
    const parts: CommitPart[] = [];
    const tables = openTables({
      table<Value>(name: string, codec: Codec<Value>) {
        const table = new JournalTable(folder.openTable(name), codec, () => {});
        parts.push(table);
        return table;
      },
    });
    return { tables, parts, index: loadSeries([], recordKeys, tables), isCommitting: false };
  }

  function record({ tables, index }: Loaded, asset: AssetName, holding: Holding): void {
    const series = index.of(asset);
    // A load may already have found a received record, or a newer record of the asset, on disk. The thread then ignores the
    // received record.
    if (series.newest !== undefined && isBefore(holding, series.newest)) return;
    // A commit after the load may have removed the record that was the newest record during the load. The minutes before this record
    // are on disk.
    if (series.newest === undefined && holding.minute !== undefined)
      index.continueHour(series, holding.minute.minute);
    recordHolding(series, holding, tables);
  }

  function inForce(): Loaded {
    if (loaded === undefined) throw new NotLoaded('the stored prices are being read again');
    return loaded;
  }

  const seriesOf = (asset: AssetName): AssetSeries => inForce().index.of(asset);

  function read<T>(from: (reader: StoreReader) => T): T {
    try {
      return from(readSeries(seriesOf, inForce().tables));
    } catch (error) {
      if (error instanceof DamagedRecord) onDamage(error.message);
      throw error;
    }
  }

  return {
    recorded(asset, holding) {
      if (loaded === undefined) toldSince.push({ asset, holding });
      else record(loaded, asset, holding);
    },
    committing({ cutoffs, sealed }) {
      if (loaded === undefined) return;
      followHousekeeping(loaded.index.all(), cutoffs, sealed, loaded.tables);
      for (const part of loaded.parts) part.beginCommit();
      loaded.isCommitting = true;
    },
    committed(isOnDisk) {
      if (!loaded?.isCommitting) return;
      // Reads must find on disk the records that the parts drop from memory.
      folder.refresh();
      for (const part of loaded.parts) {
        if (isOnDisk) part.endCommit();
        else part.undoCommit();
      }
      loaded.isCommitting = false;
    },
    behind() {
      loaded = undefined;
      toldSince = [];
    },
    load() {
      folder.refresh();
      loaded = load();
      for (const { asset, holding } of toldSince) record(loaded, asset, holding);
      toldSince = [];
    },
    newest: (asset) => read((reader) => reader.newest(asset)),
    recent: (asset, second) => read((reader) => reader.recent(asset, second)),
    history: (...range) => read((reader) => reader.history(...range)),
    candleDays: (asset) => read((reader) => reader.candleDays(asset)),
    sealedDays: (asset) => read((reader) => reader.sealedDays(asset)),
    close: () => folder.close(),
  };
}
