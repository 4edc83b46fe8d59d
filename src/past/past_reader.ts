import type { AssetName } from '../model/asset_map.js';
import { DamagedRecord } from '../records/envelope.js';
import { assetKeyOf, type ChunkBlock } from './chunk.js';
import { type BlockBytes, type BlockTexts, readBlock } from './entry_block.js';
import { HourIndex, type OpenTierFile } from './hour_index.js';
import type { KeptEntry } from './kept_entry.js';
import { TextList } from './packed_bytes.js';
import { hourOf, listHours, listLogs } from './past_folder.js';
import { LogReader } from './running_log.js';

/** The time for which a list of the hours is used again. */
const LIST_MS = 1_000;

/** A part of an hour: a group of a file, or a log. */
interface PastPart {
  readonly number: number;
  readonly firstNs: bigint | undefined;
  /** Damage that lost entries right before or after those of this part. */
  readonly damageBefore?: string | undefined;
  readonly damageAfter?: string | undefined;
  blocks(assetKey: string): Promise<readonly ChunkBlock[]>;
  read(
    assetKey: string,
    index: number,
    withInputs: boolean,
  ): Promise<{ bytes: BlockBytes; texts: BlockTexts }>;
}

/** The whole past of an hour, while it is open. */
interface OpenHour {
  readonly parts: readonly PastPart[];
  /** Damage that lost entries after all parts. */
  readonly damageAtEnd: string | undefined;
  close(): Promise<void>;
}

/**
 * Reads the past from its files, on any thread and while another thread writes. All reads are in the thread pool of Node, except the
 * list of the logs.
 */
export class PastReader {
  readonly #folder: string;
  readonly #index: HourIndex;
  readonly #logs = new Map<string, Promise<LogReader | undefined>>();
  #listed: { readonly atMs: number; readonly hours: Set<number> } | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    this.#index = new HourIndex(folder);
  }

  /** Returns the time from which the past is complete; `undefined` while nothing is kept. */
  async keptFrom(): Promise<bigint | undefined> {
    for (const hour of this.#hours()) {
      const open = await this.#open(hour);
      try {
        const times = open.parts.flatMap(({ firstNs }) => (firstNs === undefined ? [] : [firstNs]));
        if (times.length > 0) return times.reduce((least, timeNs) => (timeNs < least ? timeNs : least));
      } finally {
        await open.close();
      }
    }
    return undefined;
  }

  /**
   * Returns the entry in force at a time: the last one that is not later.
   * @throws DamagedRecord when the entry is in a damaged block, or may be in a damaged group
   */
  async inForce(name: AssetName, atNs: bigint): Promise<KeptEntry | undefined> {
    const hours = this.#hours();
    const hour = hours.findLast((one) => one <= hourOf(atNs));
    if (hour === undefined) return undefined;
    // An end that is found at a start belongs to an earlier hour. The file of the next hour begins with it.
    const next = hours.find((one) => one > hour);
    const late = next === undefined ? undefined : await this.#lastIn(next, name, atNs, 'copies');
    return late ?? this.#lastIn(hour, name, atNs, 'all');
  }

  /** Tells whether the past has an entry of the asset with this time, or a later one: then all before are there too. */
  async reaches(name: AssetName, timeNs: bigint): Promise<boolean> {
    const assetKey = assetKeyOf(name);
    for (const hour of this.#hours().filter((one) => one >= hourOf(timeNs))) {
      const open = await this.#open(hour);
      try {
        for (const part of open.parts)
          if ((await part.blocks(assetKey)).some(({ maxNs }) => maxNs >= timeNs)) return true;
      } finally {
        await open.close();
      }
    }
    return false;
  }

  /**
   * Returns the entries of a time range in batches, ascending, without carried ones.
   * @throws DamagedRecord when an entry is in a damaged block
   */
  async *entries(
    name: AssetName,
    fromNs: bigint,
    toNs: bigint,
    withInputs: boolean,
  ): AsyncIterable<readonly KeptEntry[]> {
    const assetKey = assetKeyOf(name);
    const hours = this.#hours().filter((one) => one >= hourOf(fromNs));
    const end = hours.findIndex((one) => one > hourOf(toNs - 1n));
    for (const hour of end < 0 ? hours : hours.slice(0, end + 1)) {
      const open = await this.#open(hour);
      try {
        for (const part of open.parts)
          for (const [i, block] of (await part.blocks(assetKey)).entries()) {
            if (block.maxNs < fromNs || block.minNs >= toNs) continue;
            const { bytes, texts } = await part.read(assetKey, i, withInputs);
            const entries = [...readBlock(name, bytes, texts)].filter(
              ({ timeNs, isCarried }) => !isCarried && timeNs >= fromNs && timeNs < toNs,
            );
            if (entries.length > 0) yield entries;
          }
      } finally {
        await open.close();
      }
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#logs.values()].map(async (log) => (await log)?.close()));
    this.#logs.clear();
  }

  /** @param wanted `copies` if the entries of the hour itself are all later: then its damage does not matter */
  async #lastIn(
    hour: number,
    name: AssetName,
    atNs: bigint,
    wanted: 'all' | 'copies',
  ): Promise<KeptEntry | undefined> {
    const assetKey = assetKeyOf(name);
    const open = await this.#open(hour);
    // Damage between the entry and the next one of its asset may have cost the entry that was in force.
    let damage = open.damageAtEnd;
    try {
      for (const part of open.parts.toReversed()) {
        damage ??= part.damageAfter;
        const blocks = await part.blocks(assetKey);
        for (let i = blocks.length - 1; i >= 0; i--) {
          if (blocks[i]!.minNs > atNs) continue;
          const { bytes, texts } = await part.read(assetKey, i, true);
          let found: KeptEntry | undefined;
          let isNewest = i === blocks.length - 1;
          for (const entry of readBlock(name, bytes, texts)) {
            if (entry.timeNs > atNs) {
              isNewest = false;
              break;
            }
            found = entry;
          }
          if (isNewest && damage !== undefined && wanted === 'all') throw new DamagedRecord(damage);
          return found;
        }
        if (blocks.length > 0) damage = undefined;
        damage ??= part.damageBefore;
      }
      if (damage !== undefined && wanted === 'all') throw new DamagedRecord(damage);
      return undefined;
    } finally {
      await open.close();
    }
  }

  /** Returns the hours that have entries, ascending. */
  #hours(): number[] {
    const nowMs = performance.now();
    // The logs are listed first: a log is removed only when its hour has a file.
    const logged = listLogs(this.#folder).map(({ hour }) => hour);
    if (this.#listed === undefined || nowMs - this.#listed.atMs > LIST_MS)
      this.#listed = { atMs: nowMs, hours: new Set(listHours(this.#folder).signatures) };
    for (const hour of logged) this.#listed.hours.add(hour);
    return [...this.#listed.hours].sort((a, b) => a - b);
  }

  async #open(hour: number): Promise<OpenHour> {
    // The logs are read first: a log is removed only when its chunk is in the file.
    const logs = await this.#openLogs(hour);
    const signatures = await this.#index.open(hour, 'signatures');
    const inputs = signatures && (await this.#index.open(hour, 'inputs'));
    const parts = groupsOf(signatures, inputs);
    const written = new Set(parts.map(({ number }) => number));
    const running = logs.filter((log) => !written.has(log.chunk.number));
    parts.push(...running.map(logPart));
    parts.sort((a, b) => a.number - b.number);
    // A group that is being written has its log.
    const isDamaged = running.length === 0 && signatures?.hasTail === true;
    return {
      parts,
      damageAtEnd: isDamaged ? `the last group of ${signatures.path} is damaged` : undefined,
      async close() {
        await signatures?.close();
        await inputs?.close();
      },
    };
  }

  async #openLogs(hour: number): Promise<LogReader[]> {
    const places = listLogs(this.#folder);
    const keys = new Set(places.map((place) => `${place.hour}-${place.number}`));
    for (const [key, log] of this.#logs)
      if (!keys.has(key)) {
        this.#logs.delete(key);
        await (await log)?.close();
      }
    const logs: LogReader[] = [];
    for (const place of places) {
      if (place.hour !== hour) continue;
      const key = `${place.hour}-${place.number}`;
      const opening = this.#logs.get(key) ?? LogReader.open(this.#folder, place);
      this.#logs.set(key, opening);
      const log = await opening;
      if (log === undefined) {
        this.#logs.delete(key);
        continue;
      }
      await log.refresh();
      logs.push(log);
    }
    return logs;
  }
}

function groupsOf(signatures: OpenTierFile | undefined, inputs: OpenTierFile | undefined): PastPart[] {
  if (signatures === undefined) return [];
  return signatures.groups.map((group, i): PastPart => {
    const before = signatures.groups[i - 1]?.at ?? -1;
    const damagedAt = signatures.damagedAt.find((at) => at > before && at < group.at);
    const { number, firstNs, lastNs } = group.header;
    return {
      number,
      firstNs: lastNs === 0n ? undefined : firstNs,
      damageBefore:
        damagedAt === undefined ? undefined : `${signatures.path} is damaged at byte ${damagedAt}`,
      blocks: async (assetKey) => (await signatures.index(group)).blocksOf.get(assetKey) ?? [],
      async read(assetKey, index, withInputs) {
        const { texts } = await signatures.index(group);
        const same = withInputs ? inputs?.groups.find(({ header }) => header.number === number) : undefined;
        const sources = same === undefined ? new TextList() : (await inputs!.index(same)).texts;
        const bytes = {
          signatures: await signatures.block(group, assetKey, index),
          inputs: same && (await inputs!.block(same, assetKey, index)),
        };
        return { bytes, texts: { facts: texts, sources } };
      },
    };
  });
}

function logPart({ chunk, damage }: LogReader): PastPart {
  return {
    number: chunk.number,
    firstNs: chunk.firstNs,
    damageAfter: damage,
    blocks: async (assetKey) => chunk.blocks(assetKey),
    read: async (assetKey, index) => ({ bytes: chunk.bytesOf(assetKey, index), texts: chunk.texts }),
  };
}
