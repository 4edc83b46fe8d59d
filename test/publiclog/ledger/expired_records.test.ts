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

/** A log whose batches have one second and one record each. */
class ShortLog {
  readonly dir: string;
  #ledger: Ledger | undefined;

  constructor(t: Test) {
    this.dir = mkdtempSync(join(tmpdir(), 'tickseal-expired-'));
    t.teardown(async () => {
      await this.#ledger?.close();
      rmSync(this.dir, { recursive: true, force: true });
    });
  }

  get folders() {
    return { publicFolder: publicFolderOf(this.dir), stateFolder: stateFolderOf(this.dir) };
  }

  async open(retentionS?: bigint): Promise<void> {
    this.#ledger = await Ledger.open({
      ...this.folders,
      origin: LOG_ORIGIN,
      ...(retentionS !== undefined && { recordsRetentionNs: retentionS * SECOND_NS }),
      onMismatch: (reason) => {
        throw new Error(reason);
      },
    });
  }

  /** Adds batches and writes them into the public files, with a checkpoint. */
  async grow(count: number): Promise<void> {
    const ledger = this.#ledger!;
    for (let i = 0; i < count; i += 1) {
      const fromNs = ledger.last?.toNs ?? 0n;
      ledger.add(recordAt(fromNs));
      await ledger.apply(await ledger.nextEntry(0n, fromNs, fromNs + SECOND_NS));
    }
    const head = await ledger.seal();
    const note = await new CheckpointSigner({ ...this.folders, origin: LOG_ORIGIN, key: LOG }).sign(head);
    writeFileSync(join(this.folders.publicFolder, CHECKPOINT_FILE), note);
  }

  path(batch: number): string {
    return join(this.folders.publicFolder, batchPath(BigInt(batch)));
  }

  /** Returns the batches that have records. */
  stored(size: number): number[] {
    return Array.from({ length: size }, (_, i) => i).filter((i) => existsSync(this.path(i)));
  }

  proofAt(second: bigint) {
    const place = { signatureType: 'evm' as const, symbolHash: new Uint8Array(32).fill(1) };
    return new LedgerReader(this.folders.publicFolder).proofOf({ ...place, timeNs: second * SECOND_NS });
  }
}

function range(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, i) => start + i);
}

test('records of batches are removed when they are older than the retention, to the batch', async (t) => {
  const log = new ShortLog(t);
  await log.open(50n);
  await log.grow(50);
  t.same(log.stored(50), range(0, 50), 'the first batch began 50 s before the end of the last one');
  t.match(await log.proofAt(0n), { proof: String });
  await log.grow(1);
  t.same(log.stored(51), range(1, 51), 'the first batch ended 50 s before that end');
  t.same(await log.proofAt(0n), { lacks: 'records', reason: 'the records of batch 0 are no longer kept' });
  t.match(await log.proofAt(1n), { proof: String });
  for (let i = 0; i < 20; i += 1) await log.grow(103);
  t.same(log.stored(2_111), range(2_061, 2_111));
  t.notOk(existsSync(join(log.folders.publicFolder, 'batch/x001')), 'an empty folder is removed');
  const files = tilesBetween(0n, 2_111n).filter(({ width }) => width === 256);
  const hasFile = (tile: Tile) => existsSync(join(log.folders.publicFolder, tilePath(tile)));
  t.ok(files.every(hasFile), 'entries and tiles stay');
});

test('records that expire during a copy do not end the copy, and a missing tile of the last tree does', async (t) => {
  const log = new ShortLog(t);
  await log.open();
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
