import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LastSegment } from '../disk/disk_log.js';
import { encodeFrame, frameAt, linesOf } from '../disk/log_frame.js';
import { FORMAT_VERSION } from '../disk/segment.js';
import { WorkTurn } from '../disk/work_turn.js';
import { replaceFile } from '../disk/written_file.js';

/** The file with the newest state, from which a start continues with the segments after it. */
export const SNAPSHOT_FILE = 'state.snapshot';
/** The approximate length of the lines of a frame. */
const FRAME_CHARS = 256 * 1024;

/** The first line. */
interface SnapshotHead extends LastSegment {
  readonly snapshot: true;
  readonly format: number;
}

/** The last line, by which a file that was cut off is found. */
interface SnapshotEnd {
  readonly entries: number;
}

/**
 * Encodes a state. Entries may change meanwhile, because the log is read over the state.
 * @param reach the last segment whose entries are all in the state
 */
export async function encodeSnapshot(
  entries: Iterable<string>,
  reach: LastSegment,
  signal?: AbortSignal,
): Promise<Buffer[]> {
  const head: SnapshotHead = { snapshot: true, format: FORMAT_VERSION, ...reach };
  const frames = [await encodeFrame([JSON.stringify(head)])];
  const turn = new WorkTurn();
  let lines: string[] = [];
  let chars = 0;
  let count = 0;
  for (const entry of entries) {
    lines.push(entry);
    chars += entry.length;
    count++;
    if (chars >= FRAME_CHARS) {
      frames.push(await encodeFrame(lines));
      [lines, chars] = [[], 0];
    }
    if (turn.isOver) {
      await turn.next();
      signal?.throwIfAborted();
    }
  }
  const end: SnapshotEnd = { entries: count };
  frames.push(await encodeFrame([...lines, JSON.stringify(end)]));
  return frames;
}

export function writeSnapshot(dir: string, frames: readonly Buffer[]): Promise<void> {
  return replaceFile(join(dir, SNAPSHOT_FILE), frames);
}

/**
 * Reads the snapshot of a data folder.
 * @returns the last segment whose entries are all in the state; `undefined` without a snapshot
 * @throws Error with one sentence when the file is damaged
 */
export async function readSnapshot(
  dir: string,
  onEntry: (entry: string) => void,
): Promise<LastSegment | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readFile(join(dir, SNAPSHOT_FILE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const turn = new WorkTurn();
  let head: SnapshotHead | undefined;
  let last: string | undefined;
  let count = 0;
  for (let at = 0; at < bytes.length; ) {
    const frame = frameAt(bytes, at);
    if (frame === undefined) throw damagedSnapshot(`at byte ${at}`);
    at = frame.end;
    for (const line of linesOf(bytes, frame)) {
      if (head === undefined) head = headOf(line);
      else {
        if (last !== undefined) {
          onEntry(last);
          count++;
        }
        last = line;
      }
      if (turn.isOver) await turn.next();
    }
  }
  const end = last?.startsWith('{"entries":') ? (JSON.parse(last) as SnapshotEnd) : undefined;
  if (head === undefined || end?.entries !== count) throw damagedSnapshot('it is cut off');
  return { segment: head.segment, id: head.id };
}

/** @throws Error for the head of another format or file */
function headOf(line: string): SnapshotHead {
  const head = line.startsWith('{"snapshot":') ? (JSON.parse(line) as SnapshotHead) : undefined;
  if (head === undefined) throw damagedSnapshot('it is another file');
  if (head.format !== FORMAT_VERSION)
    throw new Error(
      `${SNAPSHOT_FILE} has format ${head.format}, and this program reads format ${FORMAT_VERSION}: use the version of the program that made it`,
    );
  return head;
}

function damagedSnapshot(where: string): Error {
  return new Error(
    `${SNAPSHOT_FILE} is damaged: ${where}. Restore the folder from a backup, or move ${SNAPSHOT_FILE} away to start without what it holds`,
  );
}
