import type { AssetName } from '../../model/asset_map.js';
import { logFolderOf } from '../disk/segment.js';
import type { Lost } from './entry_order.js';
import {
  EntrySequence,
  type EntrySource,
  firstAfter,
  readAgainIfChanged,
  type TimeRange,
} from './entry_sequence.js';
import { DamagedList, EMPTY_LIST, FollowedHourList, type HourList, type ListedHour } from './hour_list.js';
import { hourOf, listHourFiles, pastFolderOf } from './hour_paths.js';
import { HourReader, type LinePlace } from './hour_reader.js';
import { LostRange } from './lost_range.js';
import { assetKeyOf, isAfter, type PastEntry } from './past_entry.js';
import { PastLog, type PastMoment } from './past_log.js';

export interface PastReaderOptions {
  /** The data folder. */
  readonly dir: string;
  /** False when the past is kept only for the prices of recent seconds. */
  readonly isKept: boolean;
  /** True when entries come from the log of a cluster, which repeats some of them. */
  readonly hasRepeated: boolean;
  /** Called for damage that costs an answer its inputs, but not the answer. */
  readonly onDamage: (reason: string) => void;
}

/** The latest time. */
const TIME_NS_MAX = 2n ** 63n - 1n;
/** The longest time for which an aggregate is in force without another one: the largest `clock_period`. */
const IN_FORCE_NS_MAX = 86_400_000_000_000n;

/** Reads the past from its files and from the log. Works on any thread, while another thread writes. */
export class PastReader {
  readonly #options: PastReaderOptions;
  readonly #folder: string;
  readonly #hours: HourReader;
  readonly #segments: PastLog;
  readonly #list: FollowedHourList;

  constructor(options: PastReaderOptions) {
    this.#options = options;
    this.#folder = pastFolderOf(options.dir);
    this.#hours = new HourReader(this.#folder, (listed) => this.#isCurrent(listed));
    this.#segments = new PastLog(logFolderOf(options.dir), options.hasRepeated);
    this.#list = new FollowedHourList(this.#folder);
  }

  /** Returns the time from which the past is kept; `undefined` while the past is empty. @throws LostRange */
  async keptFrom(): Promise<bigint | undefined> {
    if (!this.#options.isKept) return undefined;
    const { list, segments } = await this.#state();
    return [...list.hours, ...segments].find(({ firstNs }) => firstNs !== undefined)?.firstNs;
  }

  /**
   * Returns the entry in force at a time, with its inputs: the last entry that is not later. It is no gap.
   * @throws LostRange when the entry is not known
   */
  inForce(name: AssetName, atNs: bigint): Promise<PastEntry | undefined> {
    return readAgainIfChanged(async () => {
      const state = await this.#state();
      const found = await this.#find(state, name, atNs);
      if (found.lost === undefined) return found.entry;
      const nextNs = await this.#nextNs(name, atNs, found.lost);
      throw new LostRange({ ...found.lost, lastNs: nextNs - 1n });
    });
  }

  /** Returns the gap of an asset that has a time; `undefined` if the asset's entries after this time are not lost one by one. */
  async gapAt(name: AssetName, atNs: bigint): Promise<bigint | undefined> {
    const found = await readAgainIfChanged(async () => this.#find(await this.#state(), name, atNs));
    return found.entry?.kind === 'gap' ? found.entry.timeNs : undefined;
  }

  /** Returns whether the past has an entry of the asset at this time or later. All earlier entries are then present too. */
  reaches(name: AssetName, timeNs: bigint): Promise<boolean> {
    const assetKey = assetKeyOf(name);
    return readAgainIfChanged(async () => {
      const { list, segments } = await this.#state();
      if (segments.some((segment) => segment.blocks(assetKey).some(({ lastNs }) => lastNs >= timeNs)))
        return true;
      for (const listed of list.hours.filter((one) => (one.lastNs ?? 0n) >= timeNs).reverse())
        if ((await this.#blocksIn(listed, assetKey)).some(({ lastNs }) => lastNs >= timeNs)) return true;
      return false;
    });
  }

  /**
   * Returns the blocks of an asset that have entries in a time range, in order. No file is open between two blocks, and no block is held, so
   * the caller may be slow.
   */
  blocks(name: AssetName, range: TimeRange, withInputs: boolean): EntrySource {
    const parts = {
      list: () => this.#readList(),
      state: () => this.#state(),
      open: (listed: ListedHour) => this.#hours.open(listed),
    };
    return new EntrySequence(parts, { assetKey: assetKeyOf(name), range, withInputs });
  }

  close(): Promise<void> {
    return this.#segments.close();
  }

  /** Returns whether the list still says the same of an hour. */
  #isCurrent({ hour, inputsBytes }: ListedHour): boolean {
    const now = this.#readList().hours.find((one) => one.hour === hour);
    return now !== undefined && now.inputsBytes >= inputsBytes;
  }

  #state(): Promise<PastMoment> {
    return this.#segments.refresh(() => this.#readList());
  }

  /** @throws LostRange when the list is damaged, or missing beside files. Without it, a missing file would look like a pause. */
  #readList(): HourList {
    try {
      const list = this.#list.read();
      if (list !== undefined) return list;
      if (listHourFiles(this.#folder).length === 0) return EMPTY_LIST;
    } catch (error) {
      if (!(error instanceof DamagedList)) throw error;
    }
    throw new LostRange({
      firstNs: 0n,
      lastNs: TIME_NS_MAX,
      damage: `the list of hours in ${this.#folder} is damaged`,
    });
  }

  /** Finds the entry in force, and the loss after which it is not known. */
  async #find({ list, segments, lostFromNs }: PastMoment, name: AssetName, atNs: bigint): Promise<Found> {
    const assetKey = assetKeyOf(name);
    const unended = lostFromNs === undefined ? [] : [{ firstNs: lostFromNs, lastNs: atNs }];
    const losses = [...[...list.hours, ...segments].flatMap((one) => one.losses), ...unended].filter(
      ({ firstNs }) => firstNs <= atNs,
    );
    const isNewest = (entry: PastEntry | undefined): Found => {
      const lost = losses.find(
        ({ firstNs, lastNs }) => lastNs >= atNs || (entry !== undefined && firstNs > entry.timeNs),
      );
      if (lost === undefined && entry?.kind === 'gap')
        return { entry, lost: { firstNs: entry.timeNs, lastNs: atNs } };
      return { entry, lost };
    };
    let newest: PastEntry | undefined;
    for (const segment of segments.toReversed())
      newest ??= await this.#lastOf(segment.blocks(assetKey), atNs);
    // After a restore of an older state, the log may have ends of prices that are older than the files.
    const fromNs = newest?.timeNs ?? 0n;
    if (newest !== undefined && !list.hours.some(({ lastNs = 0n }) => lastNs > fromNs))
      return isNewest(newest);
    const { entry, damage } = await this.#findInHours(list, assetKey, atNs);
    if (damage !== undefined && damage.lastNs > fromNs) return { entry, lost: damage };
    return isNewest(entry === undefined || (newest !== undefined && isAfter(newest, entry)) ? newest : entry);
  }

  /**
   * Finds the entry in force in the files. Each hour begins with copies of what was in force, so one hour is enough, but a price that ended
   * while the service was stopped ends in the file of a later hour.
   */
  async #findInHours({ hours }: HourList, assetKey: string, atNs: bigint): Promise<FoundInHour> {
    const wanted = hours.findLastIndex(({ firstNs, hour }) =>
      firstNs === undefined ? hour <= hourOf(atNs) : firstNs <= atNs,
    );
    for (let i = wanted; i >= 0; i--) {
      const found = await this.#findIn(hours[i]!, assetKey, atNs);
      if (found.damage !== undefined) {
        // The copies of the next hour tell what was in force at the end of this hour.
        const next = hours[i + 1];
        const copy = next && (await this.#findIn(next, assetKey, atNs)).entry;
        return copy === undefined ? found : { entry: copy };
      }
      if (found.entry !== undefined || hours[i]!.hour <= hourOf(atNs)) return found;
    }
    return {};
  }

  /** Finds an asset's last entry up to a time in an hour, and the damage that may have lost a later entry up to this time. */
  async #findIn(listed: ListedHour, assetKey: string, atNs: bigint): Promise<FoundInHour> {
    const open = await this.#hours.open(listed);
    const damages = open.damage.filter(({ firstNs }) => firstNs <= atNs);
    for (const group of open.groups.toReversed()) {
      try {
        const entry = await this.#lastOf(await open.blocks(assetKey, group), atNs);
        if (entry === undefined) continue;
        return { entry, damage: damages.find(({ lastNs }) => lastNs > entry.timeNs) };
      } catch (error) {
        if (!(error instanceof LostRange)) throw error;
        if (error.firstNs <= atNs) damages.push(error);
      }
    }
    return { damage: damages[0] };
  }

  /** Returns the last entry up to a time. Damaged inputs do not cost the aggregate. */
  async #lastOf(places: readonly LinePlace[], atNs: bigint): Promise<PastEntry | undefined> {
    const place = places.findLast(({ firstNs }) => firstNs <= atNs);
    if (place === undefined) return undefined;
    const block = await place.read(true).catch(async (error: unknown) => {
      if (!(error instanceof LostRange)) throw error;
      const bare = await place.read(false);
      this.#options.onDamage(error.message);
      return bare;
    });
    return block.entry(firstAfter(block, atNs) - 1);
  }

  /** Returns the time from which the aggregate of an asset is known again. */
  async #nextNs(name: AssetName, atNs: bigint, lost: Lost): Promise<bigint> {
    const leastNs = (lost.lastNs > atNs ? lost.lastNs : atNs) + 1n;
    const blocks = this.blocks(name, { fromNs: leastNs, toNs: leastNs + IN_FORCE_NS_MAX }, false);
    try {
      for (const block of await blocks.nextFew()) for (const { timeNs } of block.bareEntries()) return timeNs;
      return leastNs;
    } catch (error) {
      if (error instanceof LostRange) return leastNs;
      throw error;
    }
  }

  async #blocksIn(listed: ListedHour, assetKey: string): Promise<readonly LinePlace[]> {
    const open = await this.#hours.open(listed);
    const blocks: LinePlace[] = [];
    for (const group of open.groups) blocks.push(...(await open.blocks(assetKey, group).catch(() => [])));
    return blocks;
  }
}

interface FoundInHour {
  readonly entry?: PastEntry | undefined;
  readonly damage?: Lost | undefined;
}

/** The entry in force, and the loss after which it is not known. */
interface Found {
  readonly entry: PastEntry | undefined;
  readonly lost: Lost | undefined;
}
