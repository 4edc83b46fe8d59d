import fs, { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { CheckpointSigner } from '../../../src/publiclog/ledger/checkpoint_signer.js';
import { Ledger } from '../../../src/publiclog/ledger/ledger.js';
import {
  batchPath,
  CHECKPOINT_FILE,
  publicFolderOf,
  stateFolderOf,
} from '../../../src/publiclog/ledger/ledger_folder.js';
import { LedgerReader } from '../../../src/publiclog/ledger/ledger_reader.js';
import { copyLog } from '../../../src/publiclog/ledger/log_copy.js';
import { type Tile, tilePath, tilesBetween } from '../../../src/tlog/tiles.js';
import { LOG, LOG_ORIGIN, recordAt, SECOND_NS } from '../../tlog/witnessed_log.js';

/** Opens a log whose batches have one second and one record each. */
async function shortLog(t: Test, retention: { recordsRetentionNs?: bigint } = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-expired-'));
  const folders = { publicFolder: publicFolderOf(dir), stateFolder: stateFolderOf(dir) };
  const ledger = await Ledger.open({ ...folders, origin: LOG_ORIGIN, ...retention, onMismatch: t.fail });
  t.teardown(async () => {
    await ledger.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const signer = new CheckpointSigner({ ...folders, origin: LOG_ORIGIN, key: LOG });
  const path = (batch: number) => join(folders.publicFolder, batchPath(BigInt(batch)));
  return {
    dir,
    publicFolder: folders.publicFolder,
    path,
    /** Adds batches and writes them into the public files, with a checkpoint. */
    async grow(count: number): Promise<void> {
      for (let i = 0; i < count; i += 1) {
        const fromNs = ledger.last?.toNs ?? 0n;
        ledger.add(recordAt(fromNs));
        await ledger.apply(await ledger.nextEntry(0n, fromNs, fromNs + SECOND_NS));
      }
      const note = await signer.sign(await ledger.seal());
      writeFileSync(join(folders.publicFolder, CHECKPOINT_FILE), note);
    },
    /** Returns the batches that have records. */
    stored: (size: number) => range(0, size).filter((batch) => existsSync(path(batch))),
    proofAt(second: bigint) {
      const place = { signatureType: 'evm' as const, symbolHash: new Uint8Array(32).fill(1) };
      return new LedgerReader(folders.publicFolder).proofOf({ ...place, timeNs: second * SECOND_NS });
    },
  };
}

function range(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, i) => start + i);
}

test('records of batches are removed when they are older than the retention, to the batch', async (t) => {
  const log = await shortLog(t, { recordsRetentionNs: 50n * SECOND_NS });
  await log.grow(50);
  t.same(log.stored(50), range(0, 50), 'the first batch began 50 s before the end of the last one');
  t.match(await log.proofAt(0n), { proof: String });
  await log.grow(1);
  t.same(log.stored(51), range(1, 51), 'the first batch ended 50 s before that end');
  t.same(await log.proofAt(0n), { lacks: 'records', reason: 'the records of batch 0 are no longer kept' });
  t.match(await log.proofAt(1n), { proof: String });
  for (let i = 0; i < 20; i += 1) await log.grow(103);
  t.same(log.stored(2_111), range(2_061, 2_111));
  t.notOk(existsSync(join(log.publicFolder, 'batch/x001')), 'an empty folder is removed');
  const files = tilesBetween(0n, 2_111n).filter(({ width }) => width === 256);
  const hasFile = (tile: Tile) => existsSync(join(log.publicFolder, tilePath(tile)));
  t.ok(files.every(hasFile), 'entries and tiles stay');
});

test('records that expire during a copy do not end the copy, and a missing tile of the last tree does', async (t) => {
  const log = await shortLog(t);
  await log.grow(300);
  const { copyFileSync } = fs;
  const copyWhile = (isRemoved: (path: string) => boolean) => {
    fs.copyFileSync = (from, ...others) => {
      if (isRemoved(String(from))) rmSync(from, { force: true });
      copyFileSync(from, ...others);
    };
    syncBuiltinESMExports();
  };
  t.teardown(() => {
    fs.copyFileSync = copyFileSync;
    syncBuiltinESMExports();
  });
  const target = join(log.dir, 'target');
  copyWhile((path) => path === log.path(0) || path === log.path(7));
  t.same(await copyLog(log.dir, target, 0), ['tlog', 'tlog-state']);
  t.notOk(existsSync(join(publicFolderOf(target), 'batch/007')));
  t.ok(existsSync(join(publicFolderOf(target), 'batch/008')));
  copyWhile((path) => path.endsWith('tile/0/001.p/44'));
  await t.rejects(copyLog(log.dir, target, 0), /do not give the root/);
});
