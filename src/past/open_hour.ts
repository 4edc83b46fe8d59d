import { DamagedRecord } from '../records/envelope.js';
import type { ChunkBlock } from './chunk.js';
import type { Tier } from './chunk_group.js';
import type { BlockBytes, BlockTexts } from './entry_block.js';
import type { PlacedGroup } from './hour_file.js';
import { HourIndex, type OpenTierFile } from './hour_index.js';
import { OpenFiles } from './open_files.js';
import { TextList } from './packed_bytes.js';
import { listHours, listLogs, tierPath } from './past_folder.js';
import { LogReader } from './running_log.js';

/** The time for which a list of the hours is used again. */
const LIST_MS = 1_000;

/** A part of an hour's entries: a group in a file, or a log. */
export interface PastPart {
  readonly number: number;
  /** The times of the first and the last entry that is not a carried copy; `undefined` without such an entry. */
  readonly firstNs: bigint | undefined;
  readonly lastNs: bigint;
  /** The damage that lost entries directly before or after this part. */
  readonly damageBefore?: string | undefined;
  readonly damageAfter?: string | undefined;
  blocks(assetKey: string): Promise<readonly ChunkBlock[]>;
  read(
    assetKey: string,
    index: number,
    withInputs: boolean,
  ): Promise<{ bytes: BlockBytes; texts: BlockTexts }>;
}

/** The open files of an hour. */
export interface OpenHour {
  readonly parts: readonly PastPart[];
  /** False when the entries of the hour are no longer kept. */
  readonly isKept: boolean;
  /** The damage that lost entries after all parts. */
  readonly damageAtEnd: string | undefined;
  close(): Promise<void>;
}

/**
 * Opens the hours of a past. Works on any thread, while another thread writes. All reads use Node's thread pool, except the listing of the
 * logs.
 */
export class HourOpener {
  readonly #folder: string;
  readonly #files: OpenFiles<Tier>;
  readonly #index = new HourIndex();
  readonly #logs = new Map<string, Promise<LogReader | undefined>>();
  #listed: { readonly atMs: number; readonly hours: Set<number> } | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    this.#files = new OpenFiles((hour, tier) => tierPath(folder, hour, tier));
  }

  /** Returns the hours that have entries, ascending. */
  hours(): number[] {
    const nowMs = performance.now();
    // The logs are listed first, because a log is removed only when its hour has a file.
    const logged = listLogs(this.#folder).map(({ hour }) => hour);
    if (this.#listed === undefined || nowMs - this.#listed.atMs > LIST_MS) {
      const { signatures, inputs } = listHours(this.#folder);
      this.#listed = { atMs: nowMs, hours: new Set([...signatures, ...inputs]) };
    }
    for (const hour of logged) this.#listed.hours.add(hour);
    return [...this.#listed.hours].sort((a, b) => a - b);
  }

  pathOf(hour: number): string {
    return tierPath(this.#folder, hour, 'signatures');
  }

  /**
   * Opens an hour. The caller must close the hour before it opens another one.
   * @param withInputs false when publishers' inputs are not needed
   */
  async open(hour: number, withInputs = true): Promise<OpenHour> {
    await this.#files.enter(hour);
    const close = () => this.#files.leave(hour);
    try {
      return { ...(await this.#read(hour, withInputs)), close };
    } catch (error) {
      await close();
      throw error;
    }
  }

  async #read(hour: number, withInputs: boolean): Promise<Omit<OpenHour, 'close'>> {
    // The logs are read first, because a log is removed only when the file has its chunk.
    const logs = await this.#openLogs(hour);
    const signatures = await this.#file(hour, 'signatures');
    const inputs = signatures && withInputs ? await this.#file(hour, 'inputs') : undefined;
    const groups = groupsOf(signatures, inputs);
    const written = new Set(groups.map(({ number }) => number));
    // The disk may have lost bytes of a group that still has its log. So the log is read, unless the log is damaged.
    const running = logs.filter((log) => log.damage === undefined || !written.has(log.chunk.number));
    const logged = new Set(running.map(({ chunk }) => chunk.number));
    const parts = [...groups.filter(({ number }) => !logged.has(number)), ...running.map(logPart)];
    parts.sort((a, b) => a.number - b.number);
    // An unfinished group still has its log, so it is not damage.
    const damageAtEnd = running.length === 0 ? await this.#damageOf(hour, signatures) : undefined;
    return {
      parts,
      isKept: parts.length > 0 || signatures !== undefined || damageAtEnd !== undefined,
      damageAtEnd,
    };
  }

  /** Returns the damage at the end of an hour without logs. Inputs are removed before signatures, so inputs alone are damage too. */
  async #damageOf(hour: number, signatures: OpenTierFile | undefined): Promise<string | undefined> {
    if (signatures === undefined) {
      const inputs = await this.#file(hour, 'inputs');
      return inputs && `the file of signatures beside ${inputs.path} is missing`;
    }
    if (signatures.hasTail) return `the last group of ${signatures.path} is damaged`;
    return signatures.groups.length === 0 ? `${signatures.path} is damaged: it is empty` : undefined;
  }

  async #file(hour: number, tier: Tier): Promise<OpenTierFile | undefined> {
    const file = await this.#files.open(hour, tier);
    return file && this.#index.read(file, hour, tier);
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

  async close(): Promise<void> {
    await Promise.all([...this.#logs.values()].map(async (log) => (await log)?.close()));
    this.#logs.clear();
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
      lastNs,
      damageBefore:
        damagedAt === undefined ? undefined : `${signatures.path} is damaged at byte ${damagedAt}`,
      blocks: async (assetKey) => (await signatures.index(group)).blocksOf.get(assetKey) ?? [],
      async read(assetKey, index, withInputs) {
        const { texts } = await signatures.index(group);
        const same = withInputs ? groupOf(inputs, number) : undefined;
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

/**
 * Finds a group of inputs. The file may lack the group, because its inputs were never kept.
 * @throws DamagedRecord when the file lacks the group and is damaged
 */
function groupOf(inputs: OpenTierFile | undefined, number: number): PlacedGroup | undefined {
  const found = inputs?.groups.find(({ header }) => header.number === number);
  if (inputs === undefined || found !== undefined) return found;
  const [damagedAt] = inputs.damagedAt;
  if (damagedAt !== undefined) throw new DamagedRecord(`${inputs.path} is damaged at byte ${damagedAt}`);
  if (inputs.hasTail) throw new DamagedRecord(`the last group of ${inputs.path} is damaged`);
  return undefined;
}

function logPart({ chunk, damage }: LogReader): PastPart {
  return {
    number: chunk.number,
    firstNs: chunk.firstNs,
    lastNs: chunk.lastNs,
    damageAfter: damage,
    blocks: async (assetKey) => chunk.blocks(assetKey),
    read: async (assetKey, index) => ({ bytes: chunk.bytesOf(assetKey, index), texts: chunk.texts }),
  };
}
