import { randomBytes } from 'node:crypto';
import { mkdirSync, statfsSync } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { Logger } from 'pino';
import { GroupCommit } from './group_commit.js';
import { encodeFrame } from './log_frame.js';
import { FORMAT_VERSION, type SegmentHead, segmentPath } from './segment.js';
import { syncFolder, writeAll } from './written_file.js';

/** The size of a segment, in bytes of the file, from which the next commit begins another segment. */
const SEGMENT_BYTES_MAX = 16 * 1024 * 1024;
/** The age of a segment, from which the next commit begins another segment. */
const SEGMENT_NS_MAX = 600_000_000_000n;
const NS_PER_HOUR = 3_600_000_000_000n;
/** The approximate length of the lines of a frame. A commit of more lines writes more frames. */
const FRAME_CHARS = 1024 * 1024;
/** The delay before the files of a sealed segment are tried again. */
const SEAL_RETRY_MS = 1_000;

export interface DiskLogOptions {
  /** The folder of the segments. */
  readonly folder: string;
  readonly clock: { nowNs(): bigint };
  /** Returns further entries for the commit that begins, such as those that only the newest of many changes needs. */
  readonly collect?: () => Iterable<string>;
  /** Returns whether {@link collect} has entries. */
  readonly hasMore?: () => boolean;
  /** Called before each commit with entries is written. The commit fails with its error. */
  readonly beforeCommit?: () => Promise<void>;
  /** The free space in bytes below which nothing is written. Default: 0. */
  readonly reserveBytes?: number | undefined;
  /** Returns the free space of the file system in bytes; the default asks the system. */
  readonly freeBytes?: (() => number) | undefined;
  /** Called when a commit begins, and when it ends. A commit takes all entries so far. A failed commit is tried again as it was. */
  readonly onCommit?: { begun(): void; settled(isOnDisk: boolean): void };
  /**
   * Moves the entries of a sealed segment into the files in which they stay. The segment is removed afterwards. Called for one segment
   * after the other, oldest first, and again after an error. A segment may come again after a kill, so its effect must be the same twice.
   * @param signal aborted when the log closes; the work then ends soon, with an error if it is not done
   */
  readonly seal: (segment: LastSegment, signal: AbortSignal) => Promise<void>;
  readonly logger?: Pick<Logger, 'error' | 'info'> | undefined;
  /** {@link SEGMENT_BYTES_MAX} except in tests. */
  readonly segmentBytesMax?: number;
}

/** The number and the ID of a segment. */
export type LastSegment = Pick<SegmentHead, 'segment' | 'id'>;

/** The state in which the last process left a log. */
export interface LogEnd {
  /** The last segment of the log; number 0 and an empty ID for a new folder. */
  readonly last: LastSegment;
  /** The segments in the folder that are not sealed, ascending. */
  readonly unsealed: readonly LastSegment[];
}

/** The segment that is being written. */
interface Running {
  readonly file: FileHandle;
  readonly number: number;
  readonly id: string;
  readonly beginsNs: bigint;
  /** The end of the last commit. */
  position: number;
}

/**
 * The log of a data folder: entries as lines of text, in segments. Entries stay in memory until the next commit. A commit is one or more
 * frames that are written and flushed together.
 */
export class DiskLog {
  readonly #options: DiskLogOptions;
  readonly #commits: GroupCommit;
  #pending: string[] = [];
  /** The entries of the commit that is being written, or that failed. */
  #committing: string[] = [];
  #running: Running | undefined;
  #last: LastSegment;
  readonly #toSeal: LastSegment[];
  #sealing: Promise<void> | undefined;
  #sealTimer: NodeJS.Timeout | undefined;
  readonly #closing = new AbortController();

  /** @param end the log of the last process, after which this log continues */
  constructor(options: DiskLogOptions, { last, unsealed }: LogEnd) {
    this.#options = options;
    this.#last = last;
    mkdirSync(options.folder, { recursive: true, mode: 0o700 });
    this.#toSeal = [...unsealed];
    this.#commits = new GroupCommit({
      write: () => this.#write(),
      isPending: () => this.#pending.length > 0 || (options.hasMore?.() ?? false),
      freeBytes: () => this.freeBytes,
      logger: options.logger,
    });
  }

  /** The number of entries that are not on disk yet. */
  get waiting(): number {
    return this.#pending.length + this.#committing.length;
  }

  get committedAtMs(): number | undefined {
    return this.#commits.committedAtMs;
  }

  /** The segment that has the newest commit; of the last process before the first commit. */
  get newest(): LastSegment {
    return this.#running === undefined ? this.#last : { segment: this.#running.number, id: this.#running.id };
  }

  /** The number of sealed segments that still have to be moved. */
  get segmentsToSeal(): number {
    return this.#toSeal.length;
  }

  /** The free space of the file system for this process. */
  get freeBytes(): number {
    return this.#options.freeBytes?.() ?? freeBytes(this.#options.folder);
  }

  /** Adds an entry: text without a line break. */
  append(entry: string): void {
    this.#pending.push(entry);
    this.#commits.changed();
  }

  /** Notes that {@link DiskLogOptions.collect} has entries. */
  changed(): void {
    this.#commits.changed();
  }

  durable(): Promise<void> {
    return this.#commits.durable();
  }

  failure(): string | undefined {
    return this.#commits.failure();
  }

  /** Begins to move sealed segments, also those of the last process, once this process has a segment. */
  beginSealing(): void {
    this.#sealSegment();
  }

  /** Writes what waits and stops. The running segment stays; the next process seals it. @throws Error when the last commit failed */
  async close(): Promise<void> {
    this.#closing.abort();
    try {
      await this.#commits.close();
    } finally {
      clearTimeout(this.#sealTimer);
      await this.#sealing;
      await this.#running?.file.close();
      this.#running = undefined;
    }
  }

  async #write(): Promise<void> {
    const { collect, onCommit } = this.#options;
    // A failed commit is repeated as it was. Otherwise it would grow while the disk fails.
    if (this.#committing.length === 0) {
      this.#committing = [...this.#pending, ...(collect?.() ?? [])];
      this.#pending = [];
    }
    onCommit?.begun();
    try {
      this.#requireRoom();
      await this.#options.beforeCommit?.();
      await this.#writeFrames(this.#committing);
    } catch (error) {
      onCommit?.settled(false);
      throw error;
    }
    this.#committing = [];
    onCommit?.settled(true);
  }

  async #writeFrames(entries: readonly string[]): Promise<void> {
    if (entries.length === 0) return;
    const running = await this.#runningSegment();
    const frames = framesOf(entries);
    const encoded = frames.map((lines, i) => encodeFrame(lines, i + 1 < frames.length));
    const bytes = Buffer.concat(await Promise.all(encoded));
    // A failed commit may have left bytes behind.
    try {
      await running.file.truncate(running.position);
      await writeAll(running.file, bytes, running.position);
      await running.file.datasync();
    } catch (error) {
      // A start must not find entries of a commit that was never acknowledged, if that can be avoided.
      await running.file.truncate(running.position).catch(() => {});
      throw error;
    }
    running.position += bytes.length;
  }

  #requireRoom(): void {
    const { reserveBytes = 0 } = this.#options;
    if (this.freeBytes < reserveBytes)
      throw new Error(`the disk is full: storage.reserve keeps ${Math.ceil(reserveBytes / 1024)} KiB free`);
  }

  /** Returns the segment for the next commit. */
  async #runningSegment(): Promise<Running> {
    const running = this.#running;
    const nowNs = this.#options.clock.nowNs();
    if (running !== undefined && !this.#isFull(running, nowNs)) return running;
    const next = await this.#createSegment(nowNs);
    if (running !== undefined) {
      this.#toSeal.push({ segment: running.number, id: running.id });
      // A failed commit may have left bytes behind.
      await running.file.truncate(running.position).catch(() => {});
      await running.file.close();
    }
    this.#running = next;
    this.#last = { segment: next.number, id: next.id };
    this.#sealSegment();
    return next;
  }

  #isFull({ position, beginsNs }: Running, nowNs: bigint): boolean {
    const ageNs = nowNs - beginsNs;
    return (
      position >= (this.#options.segmentBytesMax ?? SEGMENT_BYTES_MAX) ||
      ageNs >= SEGMENT_NS_MAX ||
      ageNs < 0n ||
      nowNs / NS_PER_HOUR !== beginsNs / NS_PER_HOUR
    );
  }

  async #createSegment(nowNs: bigint): Promise<Running> {
    const { folder } = this.#options;
    const { segment, id: previous } = this.newest;
    const head: SegmentHead = {
      segment: segment + 1,
      format: FORMAT_VERSION,
      id: randomBytes(8).toString('hex'),
      previous,
    };
    const file = await open(segmentPath(folder, head.segment), 'w+', 0o600);
    try {
      const bytes = await encodeFrame([JSON.stringify(head)]);
      await writeAll(file, bytes, 0);
      await file.datasync();
      await syncFolder(folder);
      return { file, number: head.segment, id: head.id, beginsNs: nowNs, position: bytes.length };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  #sealSegment(): void {
    // A segment always follows the sealed ones, so the loss of the newest segment is found.
    if (this.#closing.signal.aborted || this.#running === undefined || this.#toSeal.length === 0) return;
    clearTimeout(this.#sealTimer);
    this.#sealing ??= this.#sealAll();
  }

  async #sealAll(): Promise<void> {
    const { folder, seal, logger } = this.#options;
    const { signal } = this.#closing;
    try {
      while (this.#toSeal.length > 0 && !signal.aborted) {
        const segment = this.#toSeal[0]!;
        await seal(segment, signal);
        await rm(segmentPath(folder, segment.segment), { force: true });
        this.#toSeal.shift();
      }
    } catch (error) {
      if (signal.aborted) return;
      logger?.error(`the log cannot be moved into its files: ${(error as Error).message}`);
      this.#sealTimer = setTimeout(() => this.#sealSegment(), SEAL_RETRY_MS).unref();
    } finally {
      // Nothing can come between the last look at the list and this line, so no segment is left over.
      this.#sealing = undefined;
    }
  }
}

function framesOf(entries: readonly string[]): string[][] {
  const frames: string[][] = [];
  let chars = FRAME_CHARS;
  for (const entry of entries) {
    if (chars >= FRAME_CHARS) {
      frames.push([]);
      chars = 0;
    }
    frames.at(-1)!.push(entry);
    chars += entry.length;
  }
  return frames;
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
