import { closeSync, openSync, readSync, rmSync, statSync, truncateSync, writeSync } from 'node:fs';
import { sep } from 'node:path';
import { filesIn } from './synced_files.js';

/** The parts of a message server's stored data. */
export type StoredPart = 'the log' | "the log's raft group";

/** The number of bytes at the end of a file in which the last records are. */
const END_BYTES = 512;

/**
 * Truncates the newest file of a part, as after a fault of a file system.
 * @returns the damage in words, or `undefined` when the part has no data
 */
export function truncate(dir: string, part: StoredPart, random: () => number): string | undefined {
  const file = newestBlock(dir, part);
  if (file === undefined) return undefined;
  const { size } = statSync(file);
  const left = Math.floor(size * random());
  truncateSync(file, left);
  return `${part}: ${size - left} of ${size} bytes truncated`;
}

/** Flips a bit of the newest file of a part, in its middle or near its end. @returns the damage in words */
export function flip(
  dir: string,
  part: StoredPart,
  place: 'middle' | 'end',
  random: () => number,
): string | undefined {
  const file = newestBlock(dir, part);
  if (file === undefined) return undefined;
  const { size } = statSync(file);
  const within = Math.min(END_BYTES, size);
  const offset =
    place === 'end' ? size - 1 - Math.floor(within * random()) : Math.floor(size * (0.25 + 0.5 * random()));
  const handle = openSync(file, 'r+');
  const byte = Buffer.alloc(1);
  readSync(handle, byte, 0, 1, offset);
  byte[0]! ^= 1 << Math.floor(8 * random());
  writeSync(handle, byte, 0, 1, offset);
  closeSync(handle);
  return `${part}: bit flipped at ${offset} of ${size}`;
}

/** Removes the snapshots of the servers' own raft groups. @returns the damage in words */
export function removeSnapshots(dir: string, groups: 'all groups' | '_meta_'): string | undefined {
  const files = filesIn(dir).filter((file) => {
    const path = file.split(sep);
    return (
      path.includes('$SYS') &&
      path.includes('snapshots') &&
      (groups === 'all groups' || path.includes('_meta_'))
    );
  });
  for (const file of files) rmSync(file);
  return files.length === 0 ? undefined : `${files.length} snapshots of ${groups} removed`;
}

/** Returns the newest file with messages, if the part has such a file. */
function newestBlock(dir: string, part: StoredPart): string | undefined {
  const isOf = (file: string) => {
    const path = file.split(sep);
    return part === 'the log'
      ? path.includes('TS_MAIN_LOG')
      : path.includes('$SYS') && path.some((word) => word.startsWith('S-R'));
  };
  return filesIn(dir)
    .filter((file) => file.endsWith('.blk') && isOf(file) && statSync(file).size > 0)
    .sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs)
    .at(-1);
}
