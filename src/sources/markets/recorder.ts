import { closeSync, lstatSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { NS_PER_SECOND, type TimeNs } from '../../model/time.js';
import { RecordedLines } from '../recorded_lines.js';
import type { RecordedCall } from '../recording.js';
import type { RoomState } from '../room_state.js';

/** The size at which a recording is renamed to `FILE.1` and a new recording begins. */
export const RECORDING_BYTES_MAX = 256 * 1024 ** 2;
/** The number of bytes after which lines are written. Writes of 128 KiB take 15 % more time of the kernel. */
const CHUNK_BYTES = 524_288;
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
  /** The lines that are not yet written. */
  readonly #lines = new RecordedLines(2 * CHUNK_BYTES);
  #fileBytes = 0;
  /** The time from which lines no longer wait. */
  #dueNs = 0n;
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
    if (this.#fileBytes + this.#lines.length >= this.#bytesMax && !('wrote' in call))
      this.#rotate(atNs, state());
    this.#lines.add(atNs, call);
    if (this.#lines.length < CHUNK_BYTES && atNs < this.#dueNs) return;
    this.#dueNs = atNs + WAIT_NS_MAX;
    this.#attemptWrite(() => this.#flush());
  }

  close(): void {
    this.#attemptWrite(() => {
      this.#flush();
      closeSync(this.#handle!);
    });
    this.#handle = undefined;
  }

  #begin(): number {
    if (lstatSync(this.#file, { throwIfNoEntry: false })?.isFile()) renameSync(this.#file, `${this.#file}.1`);
    return openSync(this.#file, 'w', 0o600);
  }

  #flush(): void {
    const bytes = this.#lines.all;
    this.#lines.clear();
    writeFileSync(this.#handle!, bytes);
    this.#fileBytes += bytes.length;
    this.bytes += bytes.length;
  }

  #rotate(atNs: TimeNs, state: RoomState): void {
    this.#attemptWrite(() => {
      this.#flush();
      closeSync(this.#handle!);
      this.#handle = this.#begin();
      this.#fileBytes = 0;
      this.#lines.add(atNs, { state });
    });
  }

  /** Runs a write. If it fails, only the recording ends. */
  #attemptWrite(write: () => void): void {
    if (this.#handle === undefined) return;
    try {
      write();
    } catch (error) {
      this.#handle = undefined;
      this.#lines.clear();
      this.#onFailure((error as NodeJS.ErrnoException).code ?? (error as Error).message);
    }
  }
}
