import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import type { TimeNs } from '../model/time.js';
import { type RecordedCall, recordingLine } from '../sources/recording.js';

/** The size at which a recording becomes `FILE.1` and a new one begins. */
export const RECORDING_BYTES_MAX = 256 * 1024 ** 2;
/** The bytes that are written at once. */
const CHUNK_BYTES = 65_536;

/** Writes the calls of a market room to a file of its owner alone. */
export class Recorder {
  readonly #file: string;
  readonly #bytesMax: number;
  /** The connections that there are: a new file begins with them. */
  readonly #open = new Map<number, RecordedCall>();
  #handle: number;
  #chunk = '';
  #bytes = 0;

  /** @throws Error when the file cannot be opened */
  constructor(file: string, bytesMax = RECORDING_BYTES_MAX) {
    this.#file = file;
    this.#bytesMax = bytesMax;
    this.#handle = openSync(file, 'w', 0o600);
  }

  add(atNs: TimeNs, call: RecordedCall): void {
    if ('begin' in call) this.#open.set(call.begin, call);
    else if ('end' in call) this.#open.delete(call.end);
    this.#append(recordingLine(atNs, call));
    if (this.#bytes >= this.#bytesMax) this.#rotate(atNs);
  }

  close(): void {
    this.#flush();
    closeSync(this.#handle);
  }

  #append(line: string): void {
    this.#chunk += `${line}\n`;
    if (this.#chunk.length >= CHUNK_BYTES) this.#flush();
  }

  #flush(): void {
    this.#bytes += writeSync(this.#handle, this.#chunk);
    this.#chunk = '';
  }

  #rotate(atNs: TimeNs): void {
    this.close();
    renameSync(this.#file, `${this.#file}.1`);
    this.#handle = openSync(this.#file, 'w', 0o600);
    this.#bytes = 0;
    for (const call of this.#open.values()) this.#append(recordingLine(atNs, call));
  }
}
