import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { publicFolderOf, stateFolderOf } from '../../../src/publiclog/ledger/ledger_folder.js';

/** Returns new folders of a public log, which are removed after the test. */
export function ledgerFolders(t: Test) {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-ledger-'));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  return { publicFolder: publicFolderOf(dir), stateFolder: stateFolderOf(dir) };
}
