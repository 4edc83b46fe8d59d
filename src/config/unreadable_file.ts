import { readFileSync } from 'node:fs';

/** Reads a file that a user has named. @throws Error with one sentence when it cannot be read */
export function readNamedFile(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`${file} ${cannotBeRead(error)}`);
  }
}

/** Returns `cannot be read:` and the reason from the operating system's error. */
export function cannotBeRead(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return `cannot be read: ${REASONS[code ?? ''] ?? (code || (error as Error).message)}`;
}

/** The reason for a missing file, and what a user can do about it. */
const NO_FILE = 'there is no such file';
const CHECK_PATH = '; check the path';

/** Names what makes a missing file, in a reason why a file cannot be read. */
export function withCure(message: string, cure: string): string {
  return message.replace(NO_FILE + CHECK_PATH, () => `${NO_FILE}; ${cure}`);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: NO_FILE + CHECK_PATH,
  ENOTDIR: `something above it is not a folder${CHECK_PATH}`,
  EISDIR: 'it is a folder, not a file; name a file in it',
  EACCES: 'this user may not read it; run as its owner, or let its owner permit it (chmod, chown)',
};
