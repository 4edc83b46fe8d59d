import { type FileHandle, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes all bytes at a position of a file. */
export async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, position + at);
    at += bytesWritten;
  }
}

/** Replaces a file as a whole. After a crash, the file is either the old one or the new one. */
export async function replaceFile(path: string, parts: Iterable<Uint8Array>): Promise<void> {
  const next = `${path}.next`;
  const file = await open(next, 'w', 0o600);
  try {
    let position = 0;
    for (const part of parts) {
      await writeAll(file, part, position);
      position += part.length;
    }
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(next, path);
  await syncFolder(dirname(path));
}

/** Flushes the names in a folder. */
export async function syncFolder(folder: string): Promise<void> {
  const file = await open(folder, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
