import { statSync } from 'node:fs';
import type { Config } from './config.js';
import type { Problem } from './document.js';

/** The rights of the group and of others to write. */
const WRITABLE = 0o022;

/**
 * Returns the reason why other users could change a file or folder, in one clause. Follows links.
 * @returns `undefined` for a path that only this user and root can change, and for one that does not exist
 */
export function changeableByOthers(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if ((stat.mode & WRITABLE) !== 0) {
    const mode = (stat.mode & 0o7777).toString(8).padStart(4, '0');
    return `may be changed by its group or by others (mode ${mode}); chmod go-w it`;
  }
  const own = process.getuid?.();
  if (own === undefined || stat.uid === own || stat.uid === 0) return undefined;
  return `belongs to another user (${stat.uid}, and this is ${own}); chown it`;
}

/** Finds a data folder that other users could change: they could replace signed prices and the marks of signed times. */
export function dataFolderRights({ storage }: Pick<Config, 'storage'>): Problem[] {
  const reason = changeableByOthers(storage.dir);
  if (reason === undefined) return [];
  return [{ path: ['storage', 'dir'], message: `the data folder ${storage.dir} ${reason}` }];
}
