import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FORMAT_VERSION } from '../disk/segment.js';
import { FORMAT_FILE, flushToDisk } from './data_folder.js';

/** The file by which a folder of an earlier version of this program is recognised. */
const EARLIER_FILE = 'data.mdb';

/**
 * Returns whether a folder has data in the format of this program.
 * @throws Error with one clause for a folder in another format
 */
export function hasFormat(dir: string): boolean {
  if (existsSync(join(dir, EARLIER_FILE)))
    throw new Error(
      `it has the file ${EARLIER_FILE} of format 1, and this program reads format ${FORMAT_VERSION}: name another folder, or use the version of the program that made it`,
    );
  let text: string;
  try {
    text = readFileSync(join(dir, FORMAT_FILE), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  if (text !== String(FORMAT_VERSION))
    throw new Error(
      `it has format ${JSON.stringify(text.slice(0, 20))}, and this program reads format ${FORMAT_VERSION}: use the version of the program that made it`,
    );
  return true;
}

/** Gives a new folder its format. @throws Error when the file cannot be written, or when the folder has another format */
export function putFormat(dir: string): void {
  if (hasFormat(dir)) return;
  const file = join(dir, FORMAT_FILE);
  writeFileSync(`${file}.next`, `${FORMAT_VERSION}\n`, { mode: 0o600, flush: true });
  renameSync(`${file}.next`, file);
  flushToDisk(dir);
}
