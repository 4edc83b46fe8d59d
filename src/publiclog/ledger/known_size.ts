import { join } from 'node:path';
import { readDecimal } from '../../tlog/log_text.js';
import { TlogError } from '../../tlog/tlog_error.js';
import { readIfExists, writeDurably } from './ledger_folder.js';

const KNOWN_FILE = 'known';

/**
 * Returns the number of batches that the log had when this node last recorded a lack of batches; 0 if it never recorded a lack. A node
 * with fewer batches must add none, because it would begin a second tree.
 * @throws TlogError when the file is damaged
 */
export function readKnownSize(stateFolder: string): bigint {
  const path = join(stateFolder, KNOWN_FILE);
  const text = readIfExists(path)?.toString();
  const size = text === undefined ? 0n : readDecimal(text.trim());
  if (size === undefined) throw new TlogError(`${path} is damaged`);
  return size;
}

/** Resolves when the number is on disk. */
export async function writeKnownSize(stateFolder: string, size: bigint): Promise<void> {
  await writeDurably(stateFolder, [{ path: KNOWN_FILE, bytes: Buffer.from(`${size}\n`) }]);
}
