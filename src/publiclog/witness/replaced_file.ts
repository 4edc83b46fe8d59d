import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Replaces a file. Resolves when the new text is on disk. After a crash the file has the old text or the new text. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const temporary = `${file}.new`;
  await withFile(temporary, 'w', async (handle) => {
    await handle.writeFile(text);
    await handle.sync();
  });
  await rename(temporary, file);
  // The new name of the file is on disk only after a flush of the folder.
  await withFile(dirname(file), 'r', (handle) => handle.sync());
}

async function withFile(
  path: string,
  flags: string,
  use: (handle: FileHandle) => Promise<void>,
): Promise<void> {
  const handle = await open(path, flags, 0o600);
  try {
    await use(handle);
  } finally {
    await handle.close();
  }
}
