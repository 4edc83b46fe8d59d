import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { WorkTurn } from '../log/work_turn.js';
import { Chunk, type ChunkPlace } from './chunk.js';
import { logPath } from './past_folder.js';

const MAGIC = 0x54535052;
const VERSION = 1;
/** The size of the header: magic, version, hour, number and checksum. */
const HEADER_BYTES = 20;
/** The size of the head of a frame: length and checksum. */
const FRAME_HEAD_BYTES = 8;

/** The log of a running chunk. Each commit writes to it. It is removed when its chunk is in the files of its hour. */
export class RunningLog {
  readonly #file: FileHandle;
  #position: number;

  private constructor(file: FileHandle, position: number) {
    this.#file = file;
    this.#position = position;
  }

  static async create(folder: string, place: ChunkPlace): Promise<RunningLog> {
    const file = await open(logPath(folder, place), 'w+', 0o600);
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt32BE(MAGIC, 0);
    header.writeUInt32LE(VERSION, 4);
    header.writeUInt32LE(place.hour, 8);
    header.writeUInt32LE(place.number, 12);
    header.writeUInt32LE(crc32(header.subarray(0, 16)), 16);
    await writeAll(file, header, 0);
    return new RunningLog(file, HEADER_BYTES);
  }

  /** Writes and flushes a frame. After an error, the same frame can be written again. */
  async write(frame: Buffer): Promise<void> {
    const head = Buffer.alloc(FRAME_HEAD_BYTES);
    head.writeUInt32LE(frame.length, 0);
    head.writeUInt32LE(crc32(frame), 4);
    await writeAll(this.#file, Buffer.concat([head, frame]), this.#position);
    await this.#file.datasync();
    this.#position += FRAME_HEAD_BYTES + frame.length;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

/** Reads a log while it grows or after a crash. */
export class LogReader {
  readonly chunk: Chunk;
  /** The reason why the rest of the log is unreadable; `undefined` while all frames are complete. */
  damage: string | undefined;
  readonly #path: string;
  readonly #file: FileHandle;
  #position = HEADER_BYTES;
  #refreshing: Promise<void> | undefined;
  /** The refresh that follows the running one. */
  #next: Promise<void> | undefined;
  #isClosed = false;

  private constructor(file: FileHandle, path: string, place: ChunkPlace) {
    this.#file = file;
    this.#path = path;
    this.chunk = new Chunk(place.hour, place.number);
  }

  /** @returns `undefined` when another thread has just removed or created the log */
  static async open(folder: string, place: ChunkPlace): Promise<LogReader | undefined> {
    const path = logPath(folder, place);
    let file: FileHandle;
    try {
      file = await open(path, 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    try {
      if (await isLogOf(file, place)) return new LogReader(file, path, place);
    } catch (error) {
      await file.close();
      throw error;
    }
    await file.close();
    return undefined;
  }

  /** Applies all frames that were written before this call. An incomplete last frame waits for the next call. */
  refresh(): Promise<void> {
    if (this.#refreshing === undefined) return this.#begin();
    // The running refresh may have read the file before the last frame was written.
    this.#next ??= this.#refreshing
      .catch(() => {})
      .then(() => {
        this.#next = undefined;
        return this.refresh();
      });
    return this.#next;
  }

  #begin(): Promise<void> {
    this.#refreshing = this.#refresh()
      .catch((error) => {
        // The chunk of a removed log is already in the file of its hour.
        if (!this.#isClosed) throw error;
      })
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  async #refresh(): Promise<void> {
    if (this.damage !== undefined || this.#isClosed) return;
    const { size } = await this.#file.stat();
    const bytes = Buffer.allocUnsafe(Math.max(0, size - this.#position));
    if (bytes.length === 0) return;
    const { bytesRead } = await this.#file.read(bytes, 0, bytes.length, this.#position);
    // The first reading of a log, which may have 16 MiB, takes long.
    const turn = new WorkTurn();
    let at = 0;
    while (at + FRAME_HEAD_BYTES <= bytesRead) {
      const start = at + FRAME_HEAD_BYTES;
      const end = start + bytes.readUInt32LE(at);
      if (end > bytesRead) break;
      const frame = bytes.subarray(start, end);
      if (crc32(frame) !== bytes.readUInt32LE(at + 4)) {
        // The last frame may still be incomplete. A damaged frame before other frames stays damaged.
        if (end < bytesRead) this.damage = `${this.#path} is damaged at byte ${this.#position + at}`;
        break;
      }
      this.chunk.applyFrame(frame);
      at = end;
      if (turn.isOver) await turn.next();
    }
    this.#position += at;
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.#file.close();
  }
}

async function isLogOf(file: FileHandle, place: ChunkPlace): Promise<boolean> {
  const header = Buffer.alloc(HEADER_BYTES);
  const { bytesRead } = await file.read(header, 0, HEADER_BYTES, 0);
  return (
    bytesRead === HEADER_BYTES &&
    header.readUInt32BE(0) === MAGIC &&
    header.readUInt32LE(4) === VERSION &&
    header.readUInt32LE(8) === place.hour &&
    header.readUInt32LE(12) === place.number &&
    header.readUInt32LE(16) === crc32(header.subarray(0, 16))
  );
}

/** Writes all bytes at a position of a file. */
export async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, position + at);
    at += bytesWritten;
  }
}
