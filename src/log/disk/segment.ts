import { readdirSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { type FoundFrame, type FramePlace, frameAt, linesOf, nextFrame } from './log_frame.js';
import { WorkTurn } from './work_turn.js';

/** The version of everything in the data folder. */
export const FORMAT_VERSION = 2;

const NAME = /^(\d{14})\.log$/;
const NUMBER_DIGITS = 14;

/** The first line of a segment. */
export interface SegmentHead {
  /** The number of the segment, from 1. */
  readonly segment: number;
  readonly format: number;
  /** Random hex digits that distinguish this segment from a segment of the same number in a copy of the folder. */
  readonly id: string;
  /** The ID of the segment before; empty for the first segment of a folder. */
  readonly previous: string;
}

export function logFolderOf(dataFolder: string): string {
  return join(dataFolder, 'log');
}

export function segmentPath(folder: string, number: number): string {
  return join(folder, `${String(number).padStart(NUMBER_DIGITS, '0')}.log`);
}

/** Returns the numbers of the segments in a folder, ascending. */
export function listSegments(folder: string): number[] {
  return segmentNamesIn(folder)
    .flatMap((name) => NAME.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

/** Receives the lines of a frame, and in words the damage before the frame. */
export type OnFrame = (
  lines: string[],
  place: FramePlace,
  damage: string | undefined,
) => void | Promise<void>;

/** Reads a segment, also while another thread writes it. Reads use Node's thread pool. */
export class SegmentReader {
  readonly path: string;
  /** The damage between whole frames, in words. */
  readonly damage: string[] = [];
  readonly #file: FileHandle;
  readonly number: number;
  #head: SegmentHead | undefined;
  /** The position up to which all frames are read. */
  #position = 0;
  #size = 0;
  /** True for a segment with the name of another one. */
  #isForeign = false;
  #refreshing: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle, path: string, number: number) {
    this.#file = file;
    this.path = path;
    this.number = number;
  }

  /** @returns `undefined` if the segment has been removed */
  static async open(folder: string, number: number): Promise<SegmentReader | undefined> {
    const path = segmentPath(folder, number);
    try {
      return new SegmentReader(await open(path, 'r'), path, number);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** The head; `undefined` until it is read, and for a segment without its first frame. */
  get head(): SegmentHead | undefined {
    return this.#head;
  }

  /** True when bytes follow the last whole frame. The last process was killed while it wrote them, or the frame is still being written. */
  get hasTail(): boolean {
    return this.#position < this.#size;
  }

  /** The position after the last whole frame. */
  get end(): number {
    return this.#position;
  }

  /**
   * Reads the whole commits that were written since the last call. Names damage between frames and continues behind it. Calls run after one
   * another; each reads what was written before it began.
   */
  refresh(onFrame: OnFrame): Promise<void> {
    const refreshed = this.#refreshing.then(() => this.#refresh(onFrame));
    this.#refreshing = refreshed.catch(() => {});
    return refreshed;
  }

  /** Reads one frame again. @throws Error if the frame has been damaged since */
  async read(place: FramePlace): Promise<string[]> {
    const bytes = await this.#bytes(place.at, place.end - place.at);
    const found = frameAt(bytes, 0);
    if (found === undefined) throw new Error(`${this.path} is damaged at byte ${place.at}`);
    return linesOf(bytes, found);
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #refresh(onFrame: OnFrame): Promise<void> {
    if (this.#isForeign) return;
    const from = this.#position;
    this.#size = (await this.#file.stat()).size;
    if (this.#size <= from) return;
    const bytes = await this.#bytes(from, this.#size - from);
    // A whole segment takes long.
    const turn = new WorkTurn();
    /** The frames of a commit whose last frame is not read yet. */
    const held: HeldFrame[] = [];
    let at = 0;
    for (;;) {
      const found = frameAt(bytes, at) ?? nextFrame(bytes, at);
      if (found === undefined) return;
      const isDamaged = found.at > at;
      const damage = isDamaged ? `${this.path} is damaged at byte ${from + at}` : undefined;
      if (damage !== undefined) this.damage.push(damage);
      at = found.end;
      held.push({ ...found, damage });
      // The frames before damage belong to a commit that was whole.
      const whole = found.hasMore ? (isDamaged ? held.splice(0, held.length - 1) : []) : held.splice(0);
      for (const frame of whole) {
        const lines = linesOf(bytes, frame);
        if (this.#head === undefined && frame.at === 0 && from === 0) {
          if (!this.#takeHead(lines[0]!)) return;
        } else await onFrame(lines, { at: from + frame.at, end: from + frame.end }, frame.damage);
        this.#position = from + frame.end;
        if (turn.isOver) await turn.next();
      }
    }
  }

  /**
   * Reads the head. A segment that lies under the name of another segment is damaged as a whole.
   * @returns false for the head of another segment
   * @throws Error for the head of another format
   */
  #takeHead(line: string): boolean {
    const head = JSON.parse(line) as SegmentHead;
    if (head.format !== FORMAT_VERSION)
      throw new Error(
        `a segment of the log has format ${head.format}, and this program reads format ${FORMAT_VERSION}: use the version of the program that made it`,
      );
    if (head.segment === this.number) this.#head = head;
    else {
      this.damage.push(`${this.path} is segment ${head.segment}`);
      this.#isForeign = true;
    }
    return !this.#isForeign;
  }

  async #bytes(position: number, length: number): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(length);
    let at = 0;
    while (at < length) {
      const { bytesRead } = await this.#file.read(bytes, at, length - at, position + at);
      if (bytesRead === 0) break;
      at += bytesRead;
    }
    return bytes.subarray(0, at);
  }
}

/** A whole frame of a commit, and the damage before it. */
interface HeldFrame extends FoundFrame {
  readonly damage: string | undefined;
}

function segmentNamesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
