import { closeSync, fdatasync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';

/** A frame of the journal: a record of a price, or the entry of a batch. */
export interface JournalFrame {
  readonly kind: 'record' | 'entry';
  readonly bytes: Uint8Array;
}

const KIND_CODES = { record: 1, entry: 2 } as const;
/** The layout: kind, length of the bytes, the bytes, CRC-32 of all previous bytes. */
const HEAD_BYTES = 3;
const CRC_BYTES = 4;
const NAME = /^running-(\d{1,15})$/;

const sync = promisify(fdatasync);

/**
 * The journal of the records and entries that are not in the public files yet. {@link append} passes the frames to the operating system
 * immediately, so a killed process loses no frame. {@link flush} writes the frames to the disk.
 */
export class LedgerJournal {
  readonly #folder: string;
  #number: number;
  #file: number;
  #older: number[];
  /** Bytes that are not in the file because a write failed. */
  #unwritten: Buffer[] = [];
  #isDirty = false;
  /** Resolves when no fdatasync runs. Never rejects. */
  #synced: Promise<void> = Promise.resolve();

  /** Opens a new file, after all files of earlier processes. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#older = numbersIn(folder);
    this.#number = (this.#older.at(-1) ?? 0) + 1;
    this.#file = openSync(this.#path(this.#number), 'wx', 0o600);
  }

  /** Writes frames. @throws Error when the disk fails; the next call writes the frames again */
  append(frames: readonly JournalFrame[]): void {
    this.#unwritten.push(encodeFrames(frames));
    const bytes = this.#unwritten.length === 1 ? this.#unwritten[0]! : Buffer.concat(this.#unwritten);
    this.#unwritten = [bytes];
    this.#isDirty = true;
    for (let at = 0; at < bytes.length; ) {
      at += writeSync(this.#file, bytes, at);
      this.#unwritten = [bytes.subarray(at)];
    }
    this.#unwritten = [];
  }

  /** Resolves when all frames are on disk. */
  async flush(): Promise<void> {
    if (this.#unwritten.length > 0) this.append([]);
    // A running fdatasync may have begun before the newest frames, and may fail.
    const done = this.#synced.then(() => this.#sync());
    this.#synced = done.catch(() => {});
    await done;
  }

  async #sync(): Promise<void> {
    if (!this.#isDirty) return;
    this.#isDirty = false;
    try {
      await sync(this.#file);
    } catch (error) {
      this.#isDirty = true;
      throw error;
    }
  }

  /** Begins a new file with these frames, and removes the older files when the new file is on disk. */
  async restart(frames: readonly JournalFrame[]): Promise<void> {
    const file = openSync(this.#path(this.#number + 1), 'wx', 0o600);
    const old = this.#file;
    this.#older.push(this.#number);
    this.#number += 1;
    this.#file = file;
    this.#unwritten = [];
    try {
      this.append(frames);
    } finally {
      // A running fdatasync may use the old file. On a closed file it would fail, or would sync another file with the same number.
      await this.#synced;
      closeSync(old);
    }
    await this.removeOlder();
  }

  /** Removes the files of earlier processes when the new file is on disk, because the new file contains their frames. */
  async removeOlder(): Promise<void> {
    await this.flush();
    for (const number of this.#older.splice(0)) await rm(this.#path(number), { force: true });
  }

  async close(): Promise<void> {
    await this.#synced;
    closeSync(this.#file);
  }

  #path(number: number): string {
    return join(this.#folder, `running-${number}`);
  }
}

/** Returns the frames of all files of a folder, in order. Skips the rest of a file after an incomplete or damaged frame. */
export function readJournal(folder: string): JournalFrame[] {
  return numbersIn(folder).flatMap((number) => decodeFrames(readFileSync(join(folder, `running-${number}`))));
}

/**
 * Returns one file with the frames of all files of a folder; `undefined` if the folder has no file. Another process may be writing the
 * files.
 */
export function copyOfJournal(folder: string): { readonly path: string; readonly bytes: Buffer } | undefined {
  const parts = numbersIn(folder).map((number) => readFileSync(join(folder, `running-${number}`)));
  return parts.length === 0 ? undefined : { path: 'running-1', bytes: Buffer.concat(parts.map(wholeFrames)) };
}

function wholeFrames(bytes: Buffer): Buffer {
  return encodeFrames(decodeFrames(bytes));
}

function numbersIn(folder: string): number[] {
  return readdirSync(folder)
    .flatMap((name) => NAME.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
}

function encodeFrames(frames: readonly JournalFrame[]): Buffer {
  const size = frames.reduce((sum, { bytes }) => sum + HEAD_BYTES + bytes.length + CRC_BYTES, 0);
  const encoded = Buffer.allocUnsafe(size);
  let at = 0;
  for (const { kind, bytes } of frames) {
    const end = at + HEAD_BYTES + bytes.length;
    encoded[at] = KIND_CODES[kind];
    encoded.writeUInt16BE(bytes.length, at + 1);
    encoded.set(bytes, at + HEAD_BYTES);
    encoded.writeUInt32BE(crc32(encoded.subarray(at, end)), end);
    at = end + CRC_BYTES;
  }
  return encoded;
}

function decodeFrames(bytes: Buffer): JournalFrame[] {
  const frames: JournalFrame[] = [];
  for (let at = 0; at + HEAD_BYTES + CRC_BYTES <= bytes.length; ) {
    const end = at + HEAD_BYTES + bytes.readUInt16BE(at + 1);
    const kind = bytes[at] === KIND_CODES.record ? 'record' : 'entry';
    if (end + CRC_BYTES > bytes.length || crc32(bytes.subarray(at, end)) !== bytes.readUInt32BE(end)) break;
    frames.push({ kind, bytes: new Uint8Array(bytes.subarray(at + HEAD_BYTES, end)) });
    at = end + CRC_BYTES;
  }
  return frames;
}
