import type { AssetName } from '../model/asset_map.js';
import { DamagedRecord } from '../records/envelope.js';
import type { Holding } from '../records/second_record.js';
import { followHousekeeping } from './housekeeping.js';
import { openFolderToRead } from './lmdb/folder.js';
import { type OpenTables, openTables } from './open_tables.js';
import { readSeries, type StoreReader } from './reader.js';
import { RecordKeys } from './record_keys.js';
import { type AssetSeries, isBefore, recordHolding } from './series.js';
import { loadSeries, type SeriesIndex } from './series_index.js';
import type { Commit } from './store.js';
import { type Codec, type CommitPart, JournalTable } from './table.js';

/**
 * The store of a thread that only serves: it reads committed records from disk, and receives those that wait for a commit from
 * the writing thread. Between {@link behind} and {@link load} it cannot be read.
 */
export interface Follower extends StoreReader {
  /** Receives a record of the writing thread. */
  recorded(asset: AssetName, holding: Holding): void;
  /** Called when a commit takes all records received so far. */
  committing(commit: Commit): void;
  /** @param isOnDisk false: the records of the commit wait again */
  committed(isOnDisk: boolean): void;
  /** Drops everything received so far: this thread has fallen behind. */
  behind(): void;
  /** Reads the disk, which has everything from before {@link behind}, and maybe some of the records received since. */
  load(): void;
  close(): Promise<void>;
}

/** The error while the thread has missed records; it reads the disk when they are there. */
export class NotLoaded extends Error {
  override readonly name = 'NotLoaded';
}

/** The state of a {@link Follower} from one reading of the disk. */
interface Loaded {
  readonly tables: OpenTables;
  readonly parts: readonly CommitPart[];
  readonly index: SeriesIndex;
  isCommitting: boolean;
}

/**
 * @param starkSymbols those of the writing thread: `Store.starkSymbols`
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
    // Records that a load has found on disk are received again, also what an asset had before that.
    if (series.newest !== undefined && isBefore(holding, series.newest)) return;
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
      // Records that the parts forget must be found on disk.
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
    recent: (asset, second) => read((reader) => reader.recent(asset, second)),
    history: (...range) => read((reader) => reader.history(...range)),
    sealedDays: (asset) => read((reader) => reader.sealedDays(asset)),
    close: () => folder.close(),
  };
}
