import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { CheckpointSigner } from '../../../src/publiclog/ledger/checkpoint_signer.js';
import { Ledger, LedgerStopped } from '../../../src/publiclog/ledger/ledger.js';
import {
  batchPath,
  publicFolderOf,
  readTileSync,
  stateFolderOf,
} from '../../../src/publiclog/ledger/ledger_folder.js';
import { copyLog, readCopyMark } from '../../../src/publiclog/ledger/log_copy.js';
import { type LogStartOptions, startLog } from '../../../src/publiclog/ledger/log_start.js';
import { readHead } from '../../../src/publiclog/ledger/sealed_head.js';
import { toBase64 } from '../../../src/tlog/log_text.js';
import { splitRecords } from '../../../src/tlog/price_record.js';
import { readBundle, tilesBetween } from '../../../src/tlog/tiles.js';
import { treeRoot } from '../../../src/tlog/tree_nodes.js';
import { nodesOfEntries } from '../../tlog/small_log.js';
import { LOG, LOG_ORIGIN, recordAt, SECOND_NS } from '../../tlog/witnessed_log.js';

/** A log in a separate folder, which a test can reopen as after `kill -9`. */
class TestLedger {
  readonly entries: Uint8Array[] = [];
  readonly mismatches: string[] = [];
  ledger!: Ledger;
  #dir = '';

  constructor(readonly t: Test) {}

  get folders() {
    return { publicFolder: publicFolderOf(this.#dir), stateFolder: stateFolderOf(this.#dir) };
  }

  /** Opens a copy of the folder: the copy has the files that a killed process would leave. */
  async open(origin = LOG_ORIGIN): Promise<Ledger> {
    const before = this.#dir;
    const dir = mkdtempSync(join(tmpdir(), 'tickseal-ledger-'));
    if (before !== '') cpSync(before, dir, { recursive: true });
    this.#dir = dir;
    this.t.teardown(() => rmSync(dir, { recursive: true, force: true }));
    this.ledger = await Ledger.open({
      ...this.folders,
      origin,
      onMismatch: (reason) => this.mismatches.push(reason),
    });
    this.t.teardown(() => this.ledger.close().catch(() => {}));
    return this.ledger;
  }

  /** Closes the next batch, with the records that were added. */
  async batch(): Promise<void> {
    const fromNs = this.ledger.last?.toNs ?? 0n;
    const entry = await this.ledger.nextEntry(3n, fromNs, fromNs + SECOND_NS);
    this.t.ok(await this.ledger.apply(entry));
    this.entries.push(entry);
  }

  /** Checks every public file against the entries. */
  check(): void {
    const { t, entries } = this;
    const { publicFolder, stateFolder } = this.folders;
    const size = BigInt(entries.length);
    const root = treeRoot(size, nodesOfEntries(entries));
    t.equal(this.ledger.sealed.size, size);
    t.equal(toBase64(this.ledger.sealed.root), toBase64(root));
    t.match(readHead(stateFolder, 'sealed'), { origin: LOG_ORIGIN, size });
    for (const tile of tilesBetween(0n, size)) {
      const bytes = readTileSync(publicFolder, tile);
      if (tile.level !== 'entries') continue;
      const start = 256 * Number(tile.index);
      t.same(textsOf(readBundle(bytes, tile.width)), textsOf(entries.slice(start, start + tile.width)));
    }
  }
}

function textsOf(list: readonly Uint8Array[]): string[] {
  return list.map(toBase64);
}

test('a log has each batch in its files, whenever it is sealed, killed and opened again', async (t) => {
  const log = new TestLedger(t);
  await log.open();
  for (let i = 0; i < 520; i += 1) {
    const timeNs = BigInt(i) * SECOND_NS;
    for (let n = 0; n < i % 4; n += 1) log.ledger.add(recordAt(timeNs + BigInt(n), 1 + (n % 3), i));
    // A record of the next batch waits.
    log.ledger.add(recordAt(timeNs + SECOND_NS, 9, i));
    await log.batch();
    if ([3, 4, 90, 130, 255, 300, 511].includes(i)) {
      await log.ledger.seal();
      if (i === 130) log.check();
    }
    if ([0, 3, 100, 255, 400].includes(i)) await log.open();
  }
  await log.ledger.seal();
  log.check();
  t.same(log.mismatches, []);
  const { publicFolder } = log.folders;
  const atNs = 3n * SECOND_NS;
  const expected = [
    recordAt(atNs, 1, 3),
    recordAt(atNs + 2n, 3, 3),
    recordAt(atNs, 9, 2),
    recordAt(atNs + 1n, 2, 3),
  ];
  t.same(textsOf(splitRecords(readFileSync(join(publicFolder, batchPath(3n))))), textsOf(expected));
  t.notOk(existsSync(join(publicFolder, 'tile/0/000.p')), 'partial tiles of a full one are removed');
  await log.open();
  log.check();
  t.equal(log.ledger.recordsWaiting, 1);
});

test('a copy that was made while the log went on can be opened, and is marked', async (t) => {
  const log = new TestLedger(t);
  await log.open();
  const { publicFolder, stateFolder } = log.folders;
  const signer = new CheckpointSigner({ publicFolder, stateFolder, origin: LOG_ORIGIN, key: LOG });
  const sizes = { read: () => undefined, write: async () => {} };
  await startLog({ ...log.folders, origin: LOG_ORIGIN, sizes, mustExist: false });
  const source = join(publicFolder, '..');
  for (let i = 0; i < 40; i += 1) {
    for (let n = 0; n < 13; n += 1) {
      log.ledger.add(recordAt(BigInt(13 * i + n) * SECOND_NS, 1, i));
      await log.batch();
    }
    // A record of the next batch waits while the folder is copied and the batches are sealed.
    log.ledger.add(recordAt(BigInt(13 * i + 13) * SECOND_NS, 9, i));
    const target = mkdtempSync(join(tmpdir(), 'tickseal-copy-'));
    t.teardown(() => rmSync(target, { recursive: true, force: true }));
    const appended = log.ledger.head.size;
    const [names] = await Promise.all([
      copyLog(source, target, 1_700_000_000_000),
      log.ledger.seal().then((head) => signer.commit(head)),
    ]);
    t.same(names, ['tlog', 'tlog-state']);
    const folders = { publicFolder: publicFolderOf(target), stateFolder: stateFolderOf(target) };
    t.equal(readCopyMark(folders.stateFolder), '2023-11-14T22:13:20.000Z');
    const copy = await Ledger.open({ ...folders, origin: LOG_ORIGIN, onMismatch: t.fail });
    t.equal(copy.head.size, appended, 'the copy has every batch from before it');
    t.ok((readHead(folders.stateFolder, 'signed')?.size ?? 0n) <= copy.sealed.size);
    t.equal(copy.recordsWaiting, 1);
    await copy.close();
  }
});

test('a log with damaged or foreign files is not continued', async (t) => {
  const log = new TestLedger(t);
  await log.open();
  await log.batch();
  await log.ledger.seal();
  await t.rejects(log.open('other.example.com/tlog'), LedgerStopped);
  writeFileSync(join(log.folders.publicFolder, 'tile/0/000.p/1'), Buffer.alloc(32));
  await t.rejects(log.open(), LedgerStopped);
});

test('the entry of another node is checked against the own records', async (t) => {
  const [leader, standby] = [new TestLedger(t), new TestLedger(t)];
  await leader.open();
  await standby.open();
  for (const { ledger } of [leader, standby]) ledger.add(recordAt(5n));
  await leader.batch();
  t.ok(await standby.ledger.apply(leader.entries[0]!));
  t.ok(await standby.ledger.apply(leader.entries[0]!), 'again: nothing changes');
  t.same(standby.mismatches, []);
  leader.ledger.add(recordAt(SECOND_NS, 1, 2));
  standby.ledger.add(recordAt(SECOND_NS, 1, 3));
  await leader.batch();
  t.ok(await standby.ledger.apply(leader.entries[1]!));
  t.match(standby.mismatches, [/batch 1 has other prices/]);
  await standby.ledger.seal();
  t.same(standby.ledger.head.root, leader.ledger.head.root, 'the tree is the one of the log');
  t.notOk(existsSync(join(standby.folders.publicFolder, batchPath(1n))), 'wrong records are not served');
  await leader.batch();
  await leader.batch();
  t.notOk(await standby.ledger.apply(leader.entries[3]!), 'a batch is missing');
});

test('a tree that does not continue the last signed one is never signed', async (t) => {
  const log = new TestLedger(t);
  await log.open();
  await log.batch();
  const options = { ...log.folders, origin: LOG_ORIGIN, key: LOG };
  const first = await log.ledger.seal();
  t.match(await new CheckpointSigner(options).sign(first), /^prices\.example\.com\/tlog\n1\n/);
  await log.batch();
  const second = await log.ledger.seal();
  const signer = new CheckpointSigner(options);
  await signer.sign(second);
  await t.rejects(signer.sign(first), LedgerStopped, 'a smaller tree');
  const fork = new TestLedger(t);
  await fork.open();
  fork.ledger.add(recordAt(1n));
  for (let i = 0; i < 3; i += 1) await fork.batch();
  const forked = new CheckpointSigner({ ...options, publicFolder: fork.folders.publicFolder });
  await t.rejects(forked.sign(await fork.ledger.seal()), LedgerStopped, 'another past');
  t.throws(() => new CheckpointSigner({ ...options, origin: 'other' }), LedgerStopped);
});

test('a log begins only where nothing was ever signed', async (t) => {
  const log = new TestLedger(t);
  const sizes = new Map<string, bigint>();
  const kept: LogStartOptions['sizes'] = {
    read: (origin) => sizes.get(origin),
    write: async (origin, size) => void sizes.set(origin, size),
  };
  const start = (changed: Partial<LogStartOptions> = {}) =>
    startLog({ ...log.folders, origin: LOG_ORIGIN, sizes: kept, mustExist: false, ...changed });
  await log.open();
  await t.rejects(start({ mustExist: true }), /log\.must_exist/);
  await start();
  t.equal(sizes.get(LOG_ORIGIN), 0n);
  await log.batch();
  const signer = new CheckpointSigner({ ...log.folders, origin: LOG_ORIGIN, key: LOG });
  t.match(signer.signAgain(), /^prices\.example\.com\/tlog\n0\n/);
  await signer.sign(await log.ledger.seal());
  await start({ mustExist: true });
  await t.rejects(start({ origin: 'new.example.com/tlog' }), /signed checkpoints of prices\.example\.com/);
  sizes.set(LOG_ORIGIN, 2n);
  await t.rejects(start(), /is an old copy: .* has 1 batches, and the data folder notes one of 2/);
  sizes.clear();
  rmSync(join(log.folders.stateFolder, 'sealed'));
  await t.rejects(start(), /the files of the log have 0 batches/);
  rmSync(join(log.folders.stateFolder, 'signed'));
  sizes.clear();
  await t.rejects(start(), /tile exists/);
  await log.open();
});
