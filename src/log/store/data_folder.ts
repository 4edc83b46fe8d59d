import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** The file with the version of everything in the folder. */
export const FORMAT_FILE = 'format';

/** The free space that a new folder needs. */
export const ROOM_BYTES_MIN = 1024 * 1024;

/** Returns the free space of the file system of `dir` for this process. */
export function freeBytes(dir: string): number {
  const { bavail, bsize } = statfsSync(dir);
  return bavail * bsize;
}

/**
 * Returns the reason why `dir` cannot hold the service's data, in one clause. Changes nothing. If the folder is missing, checks the
 * nearest existing parent folder.
 * @returns `undefined` when `dir` is usable
 */
export function dataFolderProblem(dir: string): string | undefined {
  const path = resolve(dir);
  try {
    const existing = nearestExisting(path);
    if (!statSync(existing).isDirectory()) return `${existing} is not a folder`;
    if (existing !== path) return accessProblem(existing, 'make a folder in') ?? roomProblem(existing);
    const problem = accessProblem(path, 'read, write and enter');
    if (problem !== undefined) return problem;
    const file = join(path, FORMAT_FILE);
    return existsSync(file) ? accessProblem(file, 'read and write') : roomProblem(path);
  } catch (error) {
    return systemReason(error);
  }
}

/**
 * Makes a folder and the missing folders above, with rights for this user only. Does not use `mkdirSync` with `recursive`, because that
 * call never returns below `/proc`.
 * @throws Error with one clause that says why the folder cannot be made
 */
export function makeFolder(dir: string): void {
  try {
    const path = resolve(dir);
    const existing = nearestExisting(path);
    if (!statSync(existing).isDirectory()) throw new Error(`${existing} is not a folder`);
    const missing: string[] = [];
    for (let at = path; at !== existing; at = dirname(at)) missing.push(at);
    for (const at of missing.reverse()) makeOne(at);
  } catch (error) {
    throw new Error(systemReason(error), { cause: error });
  }
}

/** Flushes a file, or the names in a folder, to the disk. */
export function flushToDisk(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the reason why a file cannot be used. The reason comes from the operating system's error. */
export function systemReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return REASONS[code ?? ''] ?? message;
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: `this process, of user ${process.getuid?.() ?? 'unknown'}, has no permission`,
  EPERM: 'the system does not permit it',
  EROFS: 'its file system is read-only',
  ENOSPC: 'its file system is full',
  EDQUOT: 'the disk quota of this user is used up',
  EEXIST: 'there is a file or folder of that name already',
  ENOENT: 'a folder above it does not exist',
  ENOTDIR: 'something above it is not a folder',
  ELOOP: 'it is a link that leads to itself',
  ENAMETOOLONG: 'a name in it is longer than the file system allows',
  EMFILE: 'this process has no file handle left',
  EIO: 'the disk reports an error',
};

function makeOne(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new Error(`no folder can be made in ${dirname(path)}`, { cause: error });
    // Another process may have made the folder at the same time.
    if (code !== 'EEXIST' || !statSync(path).isDirectory()) throw error;
  }
}

/** @throws Error when the path ends at a link whose target is missing, or when this process has no right to read the path */
function nearestExisting(path: string): string {
  for (let at = path; ; at = dirname(at)) {
    try {
      const stat = lstatSync(at);
      if (stat.isSymbolicLink() && !existsSync(at))
        // The error of the target is more precise than this message, unless the target is only missing.
        throw statError(at) ?? new Error(`${at} is a link to something that does not exist`);
      return at;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if ((code !== 'ENOENT' && code !== 'ENOTDIR') || at === dirname(at)) throw error;
    }
  }
}

/** Returns the error of reading the target of a link; `undefined` if the target is only missing. */
function statError(path: string): unknown {
  try {
    statSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return error;
  }
  return undefined;
}

function accessProblem(path: string, purpose: string): string | undefined {
  const { R_OK, W_OK, X_OK } = constants;
  const isFolder = statSync(path).isDirectory();
  try {
    accessSync(path, isFolder ? R_OK | W_OK | X_OK : R_OK | W_OK);
    return undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') return systemReason(error);
    const { uid, mode } = statSync(path);
    const shownMode = (mode & 0o7777).toString(8).padStart(4, '0');
    return `this process, of user ${process.getuid?.()}, may not ${purpose} ${path} (of user ${uid}, mode ${shownMode})`;
  }
}

function roomProblem(path: string): string | undefined {
  const { blocks, bavail, bsize } = statfsSync(path);
  if (blocks === 0) return `the file system of ${path} has no room for files`;
  if (bavail * bsize >= ROOM_BYTES_MIN) return undefined;
  const freeKiB = Math.floor((bavail * bsize) / 1024);
  return `there is no room for it: ${freeKiB} KiB are free, and ${ROOM_BYTES_MIN / 1024} KiB are needed`;
}
