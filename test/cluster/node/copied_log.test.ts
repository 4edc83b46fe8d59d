import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import type { CheckpointPublisher } from '../../../src/cluster/node/checkpoint_publisher.js';
import { FollowedLog } from '../../../src/cluster/node/followed_log.js';
import { LogMirror } from '../../../src/cluster/node/log_mirror.js';
import type { OtherLogFiles } from '../../../src/cluster/node/other_log_files.js';
import { Ledger } from '../../../src/publiclog/ledger/ledger.js';
import { LedgerReader } from '../../../src/publiclog/ledger/ledger_reader.js';
import { formatNote } from '../../../src/tlog/signed_note.js';
import { formatCheckpoint } from '../../../src/tlog/tree_checkpoint.js';
import type { TreeHead } from '../../../src/tlog/tree_proofs.js';
import { LOG, LOG_ORIGIN, policyText, recordAt, SECOND_NS } from '../../tlog/witnessed_log.js';
import { ledgerFolders } from './ledger_folders.js';

const FACTS = { origin: LOG_ORIGIN, vkey: '', policy: policyText('quorum none'), maxDelayS: 30 };

/** The log of an aggregator with batches of one second and three prices each. */
class SourceLog {
  readonly entries: Uint8Array[] = [];
  readonly folders;
  readonly reader;
  #ledger: Ledger | undefined;

  constructor(readonly t: Test) {
    this.folders = ledgerFolders(t);
    this.reader = new LedgerReader(this.folders.publicFolder);
  }

  /** Adds batches, and seals them. Returns the tree. */
  async grow(count: number): Promise<TreeHead> {
    const { t, folders } = this;
    if (this.#ledger === undefined) {
      const opened = await Ledger.open({ ...folders, origin: LOG_ORIGIN, onMismatch: t.fail });
      t.teardown(() => opened.close());
      this.#ledger = opened;
    }
    const ledger = this.#ledger;
    for (let i = 0; i < count; i++) {
      const fromNs = ledger.last?.toNs ?? 0n;
      for (const asset of [1, 2, 3]) ledger.add(recordAt(fromNs + 5n, asset));
      const entry = await ledger.nextEntry(1n, fromNs, fromNs + SECOND_NS);
      await ledger.apply(entry);
      this.entries.push(entry);
    }
    return ledger.seal();
  }

  /** Answers as the other nodes of a cluster do. */
  others(change: Partial<OtherLogFiles> = {}): OtherLogFiles {
    return { read: (path) => this.reader.publicFile(path), facts: async () => FACTS, ...change };
  }
}

function signed(head: TreeHead): Uint8Array {
  const text = formatCheckpoint({ origin: LOG_ORIGIN, ...head });
  return Buffer.from(formatNote({ text, signatures: [LOG.sign(LOG_ORIGIN, text)] }));
}

function headOf(head: TreeHead): Uint8Array {
  return Buffer.from(formatCheckpoint({ origin: LOG_ORIGIN, ...head }));
}

/** Checks that a copy has the tiles and the records of a folder. The copy may also have partial tiles of other trees. */
function checkCopied(t: Test, folder: string, copy: string): void {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = names.filter((name) => name.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  t.ok(paths.length > 3);
  for (const path of paths)
    if (!readFileSync(join(copy, path.slice(folder.length))).equals(readFileSync(path))) t.fail(path);
}

/** Opens the public log of an aggregator that follows and has an empty folder. */
async function emptyFollower(t: Test, folders = ledgerFolders(t)) {
  const committed: bigint[] = [];
  const clock = { nowMs: 0 };
  const ledger = await Ledger.open({ ...folders, origin: LOG_ORIGIN, onMismatch: t.fail });
  let isOpen = true;
  const close = async () => {
    if (isOpen) await ledger.close();
    isOpen = false;
  };
  t.teardown(close);
  const publisher = {
    async commit(head: TreeHead) {
      committed.push(head.size);
    },
    show: async () => true,
  };
  const followed = new FollowedLog(
    {
      ledger,
      stateFolder: folders.stateFolder,
      publisher: publisher as unknown as CheckpointPublisher,
      nowMs: () => clock.nowMs,
      logger: { info() {}, warn() {}, error() {} } as never,
    },
    (work) => work().catch((error) => void t.fail(error)),
  );
  return { followed, ledger, folders, clock, committed, close };
}

test('an aggregator copies the batches that it lacks from another node', async (t) => {
  const source = new SourceLog(t);
  const { followed, ledger, folders, committed } = await emptyFollower(t);
  followed.joinOthers(source.others());
  // The copy crosses the end of a bundle.
  const head = await source.grow(300);
  followed.receive('batch', source.entries[299]!);
  followed.receive('head', headOf(head));
  await followed.settled;
  await followed.requireComplete();
  t.same(committed, [300n]);
  t.same(ledger.sealed, head);
  checkCopied(t, source.folders.publicFolder, folders.publicFolder);
});

test('a node that lacks batches adds none, says why, and tries again', async (t) => {
  const source = new SourceLog(t);
  const { followed, ledger, clock, committed } = await emptyFollower(t);
  let isAway = true;
  const read: OtherLogFiles['read'] = async (path) => {
    if (isAway) throw new Error('no aggregator is present');
    return source.reader.publicFile(path);
  };
  followed.joinOthers(source.others({ read }));
  const head = await source.grow(5);
  followed.receive('head', headOf(head));
  await followed.settled;
  t.match(followed.failure, /this node has 0 of 5 batches: no aggregator is present/);
  await t.rejects(followed.requireComplete(), /0 of 5 batches/);
  await followed.commitHead();
  t.same(committed, [], 'it allows no signature of a tree that it lacks');
  isAway = false;
  clock.nowMs += 5_000;
  await source.grow(1);
  followed.receive('batch', source.entries[5]!);
  await followed.settled;
  t.equal(ledger.head.size, 6n);
  await followed.requireComplete();
});

test('expired and false records of another node cost only these records', async (t) => {
  const source = new SourceLog(t);
  const { followed, ledger, folders } = await emptyFollower(t);
  const lies: Record<string, Uint8Array | undefined> = {
    'batch/000': undefined,
    'batch/001': recordAt(SECOND_NS, 9),
  };
  const read: OtherLogFiles['read'] = async (path) =>
    path in lies ? lies[path] : source.reader.publicFile(path);
  followed.joinOthers(source.others({ read }));
  const head = await source.grow(3);
  followed.receive('head', headOf(head));
  await followed.settled;
  t.same(ledger.sealed, head);
  t.same(readdirSync(join(folders.publicFolder, 'batch')), ['002']);
});

/** Opens a mirror with a separate clock. */
function mirrorIn(t: Test, others: OtherLogFiles) {
  const folders = ledgerFolders(t);
  const clock = { nowMs: 0 };
  const warnings: string[] = [];
  const mirror = new LogMirror({
    ...folders,
    recordsRetentionNs: 1_000n * SECOND_NS,
    nowMs: () => clock.nowMs,
    logger: { info() {}, warn: (text: string) => warnings.push(text) } as never,
  });
  t.teardown(() => mirror.close());
  mirror.joinOthers(others);
  /** Follows a checkpoint until the mirror shows it or warns. */
  const show = async (note: Uint8Array) => {
    const warned = warnings.length;
    clock.nowMs += 1;
    mirror.follow('checkpoint', note);
    await eventually(async () => {
      mirror.tick();
      return mirror.figures().checkpointAgeMs === 0 || warnings.length > warned;
    });
  };
  const shown = () => readFile(join(folders.publicFolder, 'checkpoint'), 'utf8').catch(() => undefined);
  return { mirror, folders, clock, warnings, show, shown };
}

test('an edge has a copy of the log, and shows only complete trees', async (t) => {
  const source = new SourceLog(t);
  const { mirror, folders, clock, warnings, show, shown } = mirrorIn(t, source.others());
  const first = signed(await source.grow(3));
  await show(Buffer.from(first.toString().replace(/^— .*$/m, '— other.example AAAAAAAA')));
  t.match(warnings, [/has not signed the checkpoint|signature/]);
  t.equal(await shown(), undefined, 'a checkpoint of another key');
  clock.nowMs += 31_000;
  await show(first);
  t.equal(await shown(), first.toString());
  t.same(mirror.facts, FACTS);
  t.match(mirror.figures(), { size: 3n, checkpointAgeMs: 0, witnesses: 0, isStopped: false });
  const second = signed(await source.grow(260));
  await show(second);
  t.equal(await shown(), second.toString());
  checkCopied(t, source.folders.publicFolder, folders.publicFolder);
  mirror.follow('checkpoint', first);
  mirror.tick();
  await mirror.close();
  t.equal(await shown(), second.toString(), 'an older checkpoint does not come back');
});

test('an edge that receives another tree removes its copy, and begins again', async (t) => {
  const source = new SourceLog(t);
  const head = await source.grow(2);
  const lie = Buffer.from((await source.reader.publicFile('tile/entries/000.p/2'))!);
  lie.write('2', lie.indexOf('epoch 1') + 'epoch '.length);
  let isLying = true;
  const read: OtherLogFiles['read'] = async (path) =>
    isLying && path.includes('entries') ? lie : source.reader.publicFile(path);
  const { mirror, clock, warnings, show, shown } = mirrorIn(t, source.others({ read }));
  const note = signed(head);
  await show(note);
  t.match(warnings, [/do not give the root of the checkpoint of 2/]);
  t.equal(await shown(), undefined);
  t.same(mirror.troubles(), [], 'prices do not depend on the copy');
  clock.nowMs += 31_000;
  t.match(mirror.troubles(), [/copy of the public log waits/]);
  isLying = false;
  await show(note);
  t.equal(await shown(), note.toString());
  t.same(mirror.troubles(), []);
});

test('the store goes on while a node copies batches, and a restart continues the copy', async (t) => {
  const source = new SourceLog(t);
  await source.grow(3);
  const before = await emptyFollower(t);
  let answer = () => {};
  const isAnswered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const read: OtherLogFiles['read'] = async (path) => {
    await isAnswered;
    return source.reader.publicFile(path);
  };
  before.followed.joinOthers(source.others({ read }));
  before.followed.receive('batch', source.entries[1]!);
  before.followed.receive('batch', source.entries[2]!);
  await before.followed.write();
  t.equal(before.ledger.head.size, 0n, 'the copy has not ended');
  const closed = before.followed.close();
  answer();
  await closed;
  await before.close();
  const { followed, ledger } = await emptyFollower(t, before.folders);
  followed.joinOthers(source.others());
  await followed.requireComplete();
  t.same(ledger.sealed, await source.grow(0), 'it has the batch whose part waited behind the copy');
});
