/** Returns the end of a sentence about a file that cannot be read. The reason comes from the operating system's error. */
export function cannotBeRead(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return `cannot be read: ${REASONS[code ?? ''] ?? (code || (error as Error).message)}`;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'something above it is not a folder',
  EISDIR: 'it is a folder, not a file',
  EACCES: 'this user may not read it',
};
