import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { emptyRoot } from '../../tlog/tree_hash.js';
import { LedgerStopped } from './ledger.js';
import { CHECKPOINT_FILE, makeLedgerFolders } from './ledger_folder.js';
import { readHead, writeHead } from './sealed_head.js';

/** The sizes of signed trees, stored outside the signer's folder. A backup of the prices also contains these sizes. */
export interface SignedSizes {
  /** Returns the last stored size of an origin; `undefined` if the origin has signed nothing. */
  read(origin: string): bigint | undefined;
  /** Stores a size, after the tree is in the signer's own folder. Resolves when the size is on disk or cannot be written. */
  write(origin: string, size: bigint): Promise<void>;
}

export interface LogStartOptions {
  readonly publicFolder: string;
  readonly stateFolder: string;
  readonly origin: string;
  readonly sizes: SignedSizes;
  /** True if the log exists. A folder without the log is then the wrong folder. */
  readonly mustExist: boolean;
}

/** The advice to the operator of a log that must not continue. */
export const NEW_ORIGIN = 'see "When the log is lost": only tickseal log new-origin begins another log';

/**
 * Checks that the folder has the last tree that was signed for the origin. If nothing was ever signed, begins the log with a signed tree of
 * size 0, which every later tree continues.
 * @throws LedgerStopped when the last signed tree is missing or older than another trace of the log
 */
export async function startLog(options: LogStartOptions): Promise<void> {
  const { publicFolder, stateFolder, origin, sizes, mustExist } = options;
  const signed = readHead(stateFolder, 'signed');
  if (signed !== undefined && signed.origin !== origin)
    throw new LedgerStopped(`this node signed checkpoints of ${signed.origin}, not ${origin}; ${NEW_ORIGIN}`);
  const noted = sizes.read(origin);
  if (signed === undefined) {
    const traces = [
      ...(noted === undefined ? [] : [`the data folder notes a signed checkpoint of ${noted} batches`]),
      ...tracesIn(publicFolder),
      ...(mustExist ? ['the configuration says that the log exists (log.must_exist)'] : []),
    ];
    if (traces.length > 0)
      throw new LedgerStopped(
        `${join(stateFolder, 'signed')} is missing, the last signed checkpoint of ${origin}, but ${traces.join(', and ')}; ${NEW_ORIGIN}`,
      );
    makeLedgerFolders(publicFolder, stateFolder);
    await writeHead(stateFolder, 'signed', { origin, size: 0n, root: emptyRoot() });
    await sizes.write(origin, 0n);
    return;
  }
  if (noted !== undefined && noted > signed.size)
    throw new LedgerStopped(
      `${stateFolder} is an old copy: its last signed checkpoint of ${origin} has ${signed.size} batches, and the data folder notes one of ${noted}; ${NEW_ORIGIN}`,
    );
  const sealed = readHead(stateFolder, 'sealed')?.size ?? 0n;
  if (sealed < signed.size)
    throw new LedgerStopped(
      `the files of the log have ${sealed} batches, and the last signed checkpoint of ${origin} has ${signed.size}; ${NEW_ORIGIN}`,
    );
  if (noted === undefined) await sizes.write(origin, signed.size);
}

/** Returns the traces of a log in the public files. */
function tracesIn(publicFolder: string): string[] {
  return [CHECKPOINT_FILE, 'tile', 'batch']
    .map((name) => join(publicFolder, name))
    .filter((path) => existsSync(path))
    .slice(0, 1)
    .map((path) => `${path} exists`);
}
