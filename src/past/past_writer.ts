import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { WorkTurn } from '../log/work_turn.js';
import type { AssetName } from '../model/asset_map.js';
import type { TimeNs } from '../model/time.js';
import type { Holding } from '../records/holding.js';
import type { ShownFacts } from '../records/signed_line.js';
import type { AggregationType } from '../wire/algorithms.js';
import { carried, RepeatedEntries } from './carried_entries.js';
import { assetKeyOf, Chunk } from './chunk.js';
import { appendChunk } from './hour_file.js';
import { gapFrom, isAfter, type KeptEntry, keepNewest } from './kept_entry.js';
import { gapsAfter, readLastLogs } from './last_logs.js';
import { hourOf, listHours, listLogs, logPath, logsFolder } from './past_folder.js';
import { type FileFigures, removeOldFiles } from './retention.js';
import { RunningLog } from './running_log.js';

/** The size of a log at which its chunk is written into the hour's files. At 400 aggregates a second, this takes a minute. */
const CHUNK_BYTES_MAX = 16 * 1024 * 1024;
/** The largest number of entries that wait while the disk fails: about 60 MB with four inputs per entry. Later entries become a gap. */
const WAITING_MAX = 50_000;
const CLEAN_INTERVAL_NS = 60_000_000_000n;

export interface PastOptions {
  /** The folder of the past. */
  readonly folder: string;
  /** The time for which aggregates are kept together with their inputs. */
  readonly proofsNs: bigint;
  /** The time for which aggregates are kept; 0 keeps nothing. */
  readonly signaturesNs: bigint;
  readonly clock: { nowNs(): TimeNs };
  /** Returns the facts that REST currently shows with an aggregate. */
  readonly shown: (symbol: string, algorithm: AggregationType) => ShownFacts;
  /** True when entries come from the log of a cluster, which repeats some of them; default: false. */
  readonly hasRepeated?: boolean;
  readonly logger?: { error(text: string): void; warn(text: string): void } | undefined;
  /** The size of a log at which its chunk is written into the hour's files; {@link CHUNK_BYTES_MAX} except in tests. */
  readonly chunkBytesMax?: number;
  /** The largest number of entries that wait while the disk fails; {@link WAITING_MAX} except in tests. */
  readonly waitingMax?: number;
}

export interface PastFigures extends FileFigures {
  readonly entriesWaiting: number;
}

/**
 * Keeps every signed aggregate in files by hour. {@link append} changes only memory. The store calls {@link write} at the beginning of each
 * commit. So the past has every entry that the store has on disk, and a durable acknowledgement covers both.
 */
export class PastWriter {
  readonly #options: PastOptions;
  #pending: { readonly assetKey: string; readonly entry: KeptEntry }[] = [];
  /** The newest entry of each asset. */
  readonly #newest = new Map<string, KeptEntry>();
  /** The newest encoded entry of each asset. */
  readonly #inForce = new Map<string, KeptEntry>();
  /** The time from which an asset's entries are lost, until its next entry. */
  readonly #gaps = new Map<string, TimeNs>();
  #chunk: Chunk | undefined;
  /** The log of the chunk, created by the first write. */
  #log: RunningLog | undefined;
  /** The encoded bytes that are not yet written, with their chunk. */
  #unwritten: { readonly chunk: Chunk; readonly frame: Buffer }[] = [];
  #logOf: Chunk | undefined;
  /** Complete chunks. A chunk waits here for the next commit, and then until it is written into its hour's files. */
  #complete: Chunk[] = [];
  #sealing: Promise<void> | undefined;
  #cleanNs = 0n;
  #figures: FileFigures = { bytes: 0, files: 0, oldestS: undefined };
  #lastPlace = { hour: 0, number: 0 };
  readonly #repeated = new RepeatedEntries();
  readonly #configured = new Set<string>();
  /** True until this past has an entry on disk. */
  #isNew = false;
  #loading: Promise<void> | undefined;
  /** The progress: `open` until the logs of the previous process have been read, then `loaded`. */
  #state: 'closed' | 'open' | 'loaded' = 'closed';

  constructor(options: PastOptions) {
    this.#options = options;
  }

  /**
   * Creates the folder and accepts entries from now on. Before this call, other methods do nothing.
   * @param inForce the newest holding of each configured asset
   * @throws Error if the folder cannot be created
   */
  open(inForce: Iterable<{ readonly asset: AssetName; readonly holding: Holding }>): void {
    const { folder, signaturesNs } = this.#options;
    if (signaturesNs === 0n) return;
    mkdirSync(logsFolder(folder), { recursive: true, mode: 0o700 });
    this.#state = 'open';
    this.#isNew = listHours(folder).signatures.length === 0 && listLogs(folder).length === 0;
    for (const { asset, holding } of inForce) {
      const entry = this.#entryOf(asset, holding);
      const assetKey = assetKeyOf(asset);
      this.#configured.add(assetKey);
      if (entry === undefined) continue;
      this.#newest.set(assetKey, entry);
      this.#inForce.set(assetKey, entry);
    }
  }

  /**
   * Reads the logs of the previous process. A starting service first serves readers; {@link write} calls this method when it has entries.
   * Then {@link committed} writes the logs into the files of their hours.
   * @throws Error when the disk fails; the next call tries again
   */
  load(): Promise<void> {
    if (this.#state !== 'open') return Promise.resolve();
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    const { folder, logger } = this.#options;
    const last = await readLastLogs(folder, logger);
    const { chunks, newest, lastPlace } = last;
    for (const [assetKey, entry] of newest) {
      keepNewest(this.#newest, assetKey, entry);
      // An asset that was removed between two processes has no end entry, so every hour would carry its last entry.
      if (this.#configured.has(assetKey)) keepNewest(this.#inForce, assetKey, entry);
    }
    // The previous process may have written entries that the store did not commit and that were added again since then.
    this.#pending = this.#pending.flatMap(({ assetKey, entry }) => {
      const logged = newest.get(assetKey);
      if (logged === undefined || isAfter(entry, logged)) return [{ assetKey, entry }];
      return entry.kind === 'gap' ? [{ assetKey, entry: gapFrom(logged.timeNs + 1n) }] : [];
    });
    this.#pending = [...gapsAfter(last, this.#inForce.keys()), ...this.#pending];
    this.#complete = chunks;
    this.#lastPlace = lastPlace;
    this.#state = 'loaded';
  }

  /** Adds an asset's next entry. A repeated entry has no effect. */
  append(asset: AssetName, holding: Holding): void {
    if (this.#state === 'closed') return;
    const entry = this.#entryOf(asset, holding);
    if (entry === undefined) return;
    const assetKey = assetKeyOf(asset);
    const newest = this.#newest.get(assetKey);
    if (newest !== undefined && !isAfter(entry, newest)) return;
    this.#newest.set(assetKey, entry);
    if (this.#pending.length >= (this.#options.waitingMax ?? WAITING_MAX)) {
      if (!this.#gaps.has(assetKey)) this.#gaps.set(assetKey, entry.timeNs);
      return;
    }
    const gapNs = this.#gaps.get(assetKey);
    if (gapNs !== undefined) {
      this.#gaps.delete(assetKey);
      this.#pending.push({ assetKey, entry: gapFrom(gapNs) });
    }
    const place = this.#options.hasRepeated ? this.#repeated.note(entry) : 'next';
    if (place === 'after repeated' && this.#isNew)
      this.#pending = this.#pending.map((one) => ({ ...one, entry: carried(one.entry) }));
    this.#pending.push({ assetKey, entry: place === 'repeated' ? carried(entry) : entry });
  }

  /**
   * Marks that entries after the newest one of each asset may be missing, because the log of the cluster no longer has them. Until an asset's
   * next entry its aggregate is unknown.
   */
  missed(): void {
    if (this.#state === 'closed') return;
    for (const [assetKey, newest] of this.#newest) {
      if (newest.kind === 'gap') continue;
      const entry = gapFrom(newest.timeNs + 1n);
      this.#newest.set(assetKey, entry);
      this.#pending.push({ assetKey, entry });
    }
  }

  /**
   * Writes and flushes the entries that were added so far.
   * @throws Error when the disk fails; the next call writes the same entries
   */
  async write(): Promise<void> {
    // A commit without aggregates, such as the first commit after a start, need not wait.
    if (this.#state === 'open' && this.#pending.length === 0) return;
    await this.load();
    if (this.#state === 'closed') return;
    const pending = this.#pending;
    this.#pending = [];
    if (pending.length > 0) this.#isNew = false;
    const turn = new WorkTurn();
    for (const _ of this.#encodeAll(pending)) if (turn.isOver) await turn.next();
    if (this.#chunk !== undefined && pending.length > 0)
      this.#unwritten.push({ chunk: this.#chunk, frame: this.#chunk.takeFrame() });
    while (this.#unwritten.length > 0) {
      const { chunk, frame } = this.#unwritten[0]!;
      if (this.#logOf !== chunk) {
        const log = await RunningLog.create(this.#options.folder, chunk);
        await this.#log?.close();
        this.#log = log;
        this.#logOf = chunk;
      }
      await this.#log!.write(frame);
      this.#unwritten.shift();
    }
  }

  /**
   * Called when the store's commit after {@link write} is on disk. Writes complete chunks into the files of their hours. Resolves when this
   * is done.
   */
  committed(): Promise<void> {
    if (this.#state !== 'loaded') return Promise.resolve();
    this.#sealing ??= this.#seal().finally(() => {
      this.#sealing = undefined;
    });
    return this.#sealing;
  }

  figures(): PastFigures {
    return { ...this.#figures, entriesWaiting: this.#pending.length };
  }

  /** Stops writing. The log of the running chunk remains; the next process writes it into the file of its hour. */
  async close(): Promise<void> {
    await this.#loading?.catch(() => {});
    this.#state = 'closed';
    await this.#sealing;
    await this.#log?.close();
    this.#log = undefined;
  }

  #entryOf({ symbol }: AssetName, holding: Holding): KeptEntry | undefined {
    if (holding.state !== 'priced') return { kind: holding.state, timeNs: holding.timeNs, isCarried: false };
    const { aggregate } = holding;
    const shown = this.#options.shown(symbol, aggregate.algorithm);
    const timeNs = aggregate.signedAtNs;
    return { kind: 'priced', timeNs, isCarried: false, aggregate, hasInputs: true, shown };
  }

  /** Encodes entries into chunks. The caller can do other work after each entry. */
  *#encodeAll(entries: readonly { readonly assetKey: string; readonly entry: KeptEntry }[]): Iterable<void> {
    for (const { assetKey, entry } of entries) {
      const hour = Math.max(hourOf(entry.timeNs), this.#lastPlace.hour);
      const isFull = (this.#chunk?.bytes ?? 0) >= (this.#options.chunkBytesMax ?? CHUNK_BYTES_MAX);
      if (this.#chunk === undefined || isFull || this.#chunk.hour !== hour) yield* this.#beginChunk(hour);
      this.#chunk!.add(assetKey, entry);
      this.#inForce.set(assetKey, entry);
      yield;
    }
  }

  *#beginChunk(hour: number): Iterable<void> {
    const isNewHour = hour !== this.#lastPlace.hour;
    if (this.#chunk !== undefined) {
      this.#unwritten.push({ chunk: this.#chunk, frame: this.#chunk.takeFrame() });
      this.#complete.push(this.#chunk);
    }
    this.#lastPlace = { hour, number: isNewHour ? 1 : this.#lastPlace.number + 1 };
    const chunk = new Chunk(hour, this.#lastPlace.number);
    this.#chunk = chunk;
    if (!isNewHour) return;
    // Each hour begins with a copy of the newest entries, so that a read needs no older file.
    for (const [assetKey, entry] of this.#inForce) {
      if (entry.kind === 'ended') continue;
      chunk.add(assetKey, carried(entry));
      yield;
    }
  }

  async #seal(): Promise<void> {
    try {
      while (this.#complete.length > 0 && this.#state === 'loaded') {
        const chunk = this.#complete[0]!;
        // The log of the chunk may still lack its last frame.
        if (this.#unwritten.some((one) => one.chunk === chunk)) return;
        await this.#writeGroups(chunk);
        await rm(logPath(this.#options.folder, chunk), { force: true });
        this.#complete.shift();
      }
      const nowNs = this.#options.clock.nowNs();
      if (nowNs >= this.#cleanNs) {
        this.#cleanNs = nowNs + CLEAN_INTERVAL_NS;
        this.#figures = await removeOldFiles(this.#options, nowNs);
      }
    } catch (error) {
      this.#options.logger?.error(`the past cannot be written: ${(error as Error).message}`);
    }
  }

  async #writeGroups(chunk: Chunk): Promise<void> {
    const { folder, proofsNs } = this.#options;
    // The signatures come last, so a reader that finds signatures also finds the inputs.
    if (proofsNs > 0n) await appendChunk(folder, chunk, 'inputs');
    await appendChunk(folder, chunk, 'signatures');
  }
}
