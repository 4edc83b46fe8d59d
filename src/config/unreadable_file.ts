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

/** The reason for a missing file. */
const NO_FILE = 'there is no such file';

/** Adds to the reason why a file cannot be read what makes a missing one. */
export function withCure(message: string, cure: string): string {
  return message.endsWith(NO_FILE) ? `${message}; ${cure}` : message;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: NO_FILE,
  ENOTDIR: 'something above it is not a folder',
  EISDIR: 'it is a folder, not a file',
  EACCES: 'this user may not read it',
};
