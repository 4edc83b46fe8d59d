import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfExists, writeDurably } from './ledger_folder.js';

const STOP_FILE = 'stopped';

/** Stores the reason why the log has stopped, for the operator's commands. The next start checks the log again. */
export async function writeStopNote(stateFolder: string, reason: string): Promise<void> {
  await writeDurably(stateFolder, [{ path: STOP_FILE, bytes: Buffer.from(`${reason}\n`) }]);
}

export async function removeStopNote(stateFolder: string): Promise<void> {
  await rm(join(stateFolder, STOP_FILE), { force: true });
}

/** Returns the reason why the log stopped in the last run; `undefined` if it did not stop. */
export function readStopNote(stateFolder: string): string | undefined {
  return readIfExists(join(stateFolder, STOP_FILE))?.toString().trim();
}
