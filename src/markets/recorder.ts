import { closeSync, lstatSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { NS_PER_SECOND, type TimeNs } from '../model/time.js';
import { type RecordedCall, recordingLine } from '../sources/recording.js';
import type { RoomState } from '../sources/room_state.js';

/** The size at which a recording is renamed to `FILE.1` and a new recording begins. */
export const RECORDING_BYTES_MAX = 256 * 1024 ** 2;
/** The number of bytes after which lines are written. */
const CHUNK_BYTES = 131_072;
/** The largest number of bytes of a character of a JavaScript string. */
const CHARACTER_BYTES_MAX = 3;
const LINE_FEED = 10;
/** The longest time for which lines are collected before they are written. */
const WAIT_NS_MAX = NS_PER_SECOND;

export interface RecorderOptions {
  readonly bytesMax?: number;
  /** Called once, when the recording ends because a write failed. The run continues. */
  readonly onFailure?: (reason: string) => void;
}

/**
 * Writes the calls of a market room to a file that only its owner can read. An earlier file becomes `FILE.1`. Each file can be replayed
 * alone, because a file that continues another file begins with the state of the room.
 */
export class Recorder {
  readonly #file: string;
  readonly #bytesMax: number;
  readonly #onFailure: (reason: string) => void;
  /** The open file; `undefined` after a failure. */
  #handle: number | undefined;
  /** The lines that are not yet written. Bytes are copied here once; one long text would be copied twice more. */
  #chunk = Buffer.allocUnsafe(2 * CHUNK_BYTES);
  #chunkBytes = 0;
  #fileBytes = 0;
  #writtenNs = 0n;
  /** The total size of all files. */
  bytes = 0;

  /** @throws Error when the file cannot be opened */
  constructor(file: string, { bytesMax = RECORDING_BYTES_MAX, onFailure = () => {} }: RecorderOptions = {}) {
    this.#file = file;
    this.#bytesMax = bytesMax;
    this.#onFailure = onFailure;
    this.#handle = this.#begin();
  }

  /** True after a failed write. */
  get isFailed(): boolean {
    return this.#handle === undefined;
  }

  /** Records a call before the room makes it, or a decision when the room writes it. */
  add(atNs: TimeNs, call: RecordedCall, state: () => RoomState): void {
    if (this.#handle === undefined) return;
    // Decisions belong to the same file as the preceding call.
    if (this.#fileBytes + this.#chunkBytes >= this.#bytesMax && !('wrote' in call))
      this.#rotate(atNs, state());
    this.#put(recordingLine(atNs, call));
    if (this.#chunkBytes < CHUNK_BYTES && atNs - this.#writtenNs < WAIT_NS_MAX) return;
    this.#writtenNs = atNs;
    this.#attempt(() => this.#flush());
  }

  close(): void {
    this.#attempt(() => {
      this.#flush();
      closeSync(this.#handle!);
    });
    this.#handle = undefined;
  }

  #begin(): number {
    if (lstatSync(this.#file, { throwIfNoEntry: false })?.isFile()) renameSync(this.#file, `${this.#file}.1`);
    return openSync(this.#file, 'w', 0o600);
  }

  #put(line: readonly string[]): void {
    const length = line.reduce((sum, part) => sum + part.length, 1);
    const bytesMax = this.#chunkBytes + length * CHARACTER_BYTES_MAX;
    if (bytesMax > this.#chunk.length) {
      const larger = Buffer.allocUnsafe(bytesMax);
      this.#chunk.copy(larger, 0, 0, this.#chunkBytes);
      this.#chunk = larger;
    }
    for (const part of line) this.#chunkBytes += this.#chunk.write(part, this.#chunkBytes);
    this.#chunk[this.#chunkBytes++] = LINE_FEED;
  }

  #flush(): void {
    const bytes = this.#chunk.subarray(0, this.#chunkBytes);
    this.#chunkBytes = 0;
    writeFileSync(this.#handle!, bytes);
    this.#fileBytes += bytes.length;
    this.bytes += bytes.length;
  }

  #rotate(atNs: TimeNs, state: RoomState): void {
    this.#attempt(() => {
      this.#flush();
      closeSync(this.#handle!);
      this.#handle = this.#begin();
      this.#fileBytes = 0;
      this.#put(recordingLine(atNs, { state }));
    });
  }

  /** Runs a write. If it fails, only the recording ends. */
  #attempt(write: () => void): void {
    if (this.#handle === undefined) return;
    try {
      write();
    } catch (error) {
      this.#handle = undefined;
      this.#chunkBytes = 0;
      this.#onFailure((error as NodeJS.ErrnoException).code ?? (error as Error).message);
    }
  }
}
