import { readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { eventually } from '../../../scripts/load/wait.js';
import type { CheckpointPublisher } from '../../../src/cluster/node/checkpoint_publisher.js';
import { FollowedLog } from '../../../src/cluster/node/followed_log.js';
import { LogMirror } from '../../../src/cluster/node/log_mirror.js';
import { LogQuestions } from '../../../src/cluster/node/log_questions.js';
import type { OtherLogFiles } from '../../../src/cluster/node/other_log_files.js';
import { askerOf } from '../../../src/cluster/subjects.js';
import { Ledger } from '../../../src/publiclog/ledger/ledger.js';
import { LedgerReader } from '../../../src/publiclog/ledger/ledger_reader.js';
import { splitRecords } from '../../../src/tlog/price_record.js';
import { formatNote } from '../../../src/tlog/signed_note.js';
import { formatCheckpoint } from '../../../src/tlog/tree_checkpoint.js';
import type { TreeHead } from '../../../src/tlog/tree_proofs.js';
import { LOG, LOG_ORIGIN, policyText, recordAt, SECOND_NS } from '../../tlog/witnessed_log.js';
import { ledgerFolders } from './ledger_folders.js';

const FACTS = { origin: LOG_ORIGIN, vkey: '', policy: policyText('quorum none'), maxDelayS: 30 };

const threePrices = (fromNs: bigint) => [1, 2, 3].map((asset) => recordAt(fromNs + 5n, asset));

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
  async grow(count: number, recordsFrom = threePrices): Promise<TreeHead> {
    const { t, folders } = this;
    if (this.#ledger === undefined) {
      const opened = await Ledger.open({ ...folders, origin: LOG_ORIGIN, onMismatch: t.fail });
      t.teardown(() => opened.close());
      this.#ledger = opened;
    }
    const ledger = this.#ledger;
    for (let i = 0; i < count; i++) {
      const fromNs = ledger.last?.toNs ?? 0n;
      for (const record of recordsFrom(fromNs)) ledger.add(record);
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

/** Returns all public files of a folder, with their bytes. */
async function filesOf(folder: string): Promise<[path: string, bytes: string][]> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true });
  const paths = names.filter((name) => name.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const read = paths.map(async (path): Promise<[string, string]> => {
    return [path.slice(folder.length), (await readFile(path)).toString('base64')];
  });
  return (await Promise.all(read)).sort();
}

/** Checks that a folder has the tiles and the records of another folder. The copy may also have partial tiles of other trees. */
async function checkCopied(t: Test, folder: string, copy: string): Promise<void> {
  const copied = new Map(await filesOf(copy));
  const files = await filesOf(folder);
  t.ok(files.length > 3);
  t.same(
    files.filter(([path, bytes]) => copied.get(path) !== bytes).map(([path]) => path),
    [],
  );
}

/** Opens the public log of an aggregator that follows and has an empty folder. */
async function emptyFollower(t: Test, folders = ledgerFolders(t)) {
  const committed: bigint[] = [];
  const clock = { nowMs: 0 };
  const errors: string[] = [];
  const mismatches: string[] = [];
  const ledger = await Ledger.open({
    ...folders,
    origin: LOG_ORIGIN,
    onMismatch: (one) => mismatches.push(one),
  });
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
  const failures: Error[] = [];
  const followed = new FollowedLog(
    {
      ledger,
      stateFolder: folders.stateFolder,
      publisher: publisher as unknown as CheckpointPublisher,
      nowMs: () => clock.nowMs,
      logger: { info() {}, warn() {}, error: (text: string) => errors.push(text) } as never,
    },
    (work) => work().catch((error) => void failures.push(error)),
  );
  return { followed, ledger, folders, clock, errors, mismatches, failures, committed, close };
}

test('an aggregator copies the batches that it lacks from another node', async (t) => {
  const source = new SourceLog(t);
  const { followed, ledger, folders, committed, failures } = await emptyFollower(t);
  followed.joinOthers(source.others());
  // The copy crosses the end of a bundle.
  const head = await source.grow(300);
  followed.receive('batch', source.entries[299]!);
  followed.receive('head', headOf(head));
  await followed.settled;
  t.same(failures, []);
  t.equal(followed.failure, undefined);
  await followed.requireComplete();
  t.same(committed, [300n]);
  t.same(ledger.sealed, head);
  await checkCopied(t, source.folders.publicFolder, folders.publicFolder);
  // The next batches need no other node.
  followed.joinOthers(source.others({ read: () => Promise.reject(new Error('asked without need')) }));
  for (const asset of [1, 2, 3]) ledger.add(recordAt(300n * SECOND_NS + 5n, asset));
  await source.grow(1);
  followed.receive('batch', source.entries[300]!);
  await followed.settled;
  t.equal(ledger.head.size, 301n);
});

test('a node that lacks batches adds none, says why, and tries again', async (t) => {
  const source = new SourceLog(t);
  const { followed, ledger, clock, errors, failures, committed } = await emptyFollower(t);
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
  await source.grow(1);
  followed.receive('batch', source.entries[5]!);
  await followed.settled;
  t.equal(ledger.head.size, 0n, 'the next attempt waits');
  clock.nowMs += 5_000;
  followed.receive('batch', source.entries[5]!);
  await followed.settled;
  t.equal(ledger.head.size, 6n);
  t.equal(followed.failure, undefined);
  await followed.requireComplete();
  t.same(failures, []);
  t.match(errors, [/0 of 5 batches/]);
});

test('a node without other nodes stops when it lacks batches', async (t) => {
  const source = new SourceLog(t);
  const { followed, failures } = await emptyFollower(t);
  await source.grow(3);
  followed.receive('batch', source.entries[2]!);
  await followed.settled;
  t.match(failures, [{ name: 'LedgerStopped', message: 'this node has 0 of 2 batches' }]);
});

test('expired and false records of another node cost only these records', async (t) => {
  const source = new SourceLog(t);
  const { followed, ledger, folders, mismatches } = await emptyFollower(t);
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
  t.same(mismatches, []);
  const names = (await filesOf(folders.publicFolder)).map(([path]) => path);
  t.same(
    names.filter((name) => name.startsWith('/batch/')),
    ['/batch/002'],
  );
});

test('entries of another node that lead nowhere end the copy', async (t) => {
  const source = new SourceLog(t);
  const { followed } = await emptyFollower(t);
  const head = await source.grow(2);
  const answers = [
    ['no bytes', new Uint8Array(0)],
    ['a cut bundle', (await source.reader.publicFile('tile/entries/000.p/2'))!.subarray(0, 9)],
    ['no bundle', Buffer.from('garbage')],
  ] as const;
  for (const [name, bytes] of answers) {
    const { followed: fresh } = await emptyFollower(t);
    fresh.joinOthers(source.others({ read: async () => bytes }));
    fresh.receive('head', headOf(head));
    await fresh.settled;
    t.match(fresh.failure, /0 of 2 batches/, name);
  }
  followed.joinOthers(source.others({ read: async () => undefined }));
  followed.receive('head', headOf(head));
  await followed.settled;
  t.match(followed.failure, /no other node has tile\/entries\/000\.p\/2/);
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
  const { mirror, folders, show, shown } = mirrorIn(t, source.others());
  t.equal(mirror.facts, undefined);
  const first = signed(await source.grow(3));
  await show(first);
  t.equal(await shown(), first.toString());
  t.same(mirror.facts, FACTS);
  t.match(mirror.figures(), { size: 3n, checkpointAgeMs: 0, witnesses: 0, isStopped: false });
  const second = signed(await source.grow(260));
  await show(second);
  t.equal(await shown(), second.toString());
  await checkCopied(t, source.folders.publicFolder, folders.publicFolder);
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

test('an edge refuses a checkpoint of another key', async (t) => {
  const source = new SourceLog(t);
  const { warnings, show, shown } = mirrorIn(t, source.others());
  const note = signed(await source.grow(1)).toString();
  await show(Buffer.from(note.replace(/^— .*$/m, '— other.example AAAAAAAA')));
  t.match(warnings, [/has not signed the checkpoint|signature/]);
  t.equal(await shown(), undefined);
});

/** A bus on which each node answers the questions for this node. */
class QuestionBus {
  readonly #handlers = new Map<string, (bytes: Uint8Array, topic: string) => Promise<Uint8Array>>();

  answer(topic: string, handler: (bytes: Uint8Array, topic: string) => Promise<Uint8Array>) {
    this.#handlers.set(topic.split('.').at(-1)!, handler);
    return () => {};
  }

  async ask(topic: string, bytes: Uint8Array): Promise<Uint8Array> {
    const handler = this.#handlers.get(topic.split('.').at(-1)!);
    if (handler === undefined) throw new Error('no responders');
    return handler(bytes, topic);
  }
}

test('a question goes to the aggregators in turn, and a large file comes in pages', async (t) => {
  const bus = new QuestionBus();
  const ofNode = (node: number) =>
    new LogQuestions({ bus, node, aggregators: () => [1, 2], nowNs: () => 0n });
  const large = Buffer.alloc(1_300_000, 'tickseal');
  const asked: string[] = [];
  ofNode(2).answer({
    publicPart: async (path, offset, lengthMax) => {
      asked.push(path);
      const file = path === 'batch/000' ? large : path === 'checkpoint' ? Buffer.alloc(0) : undefined;
      return file && { size: file.length, bytes: file.subarray(offset, offset + lengthMax) };
    },
    facts: () => FACTS,
  });
  const edge = ofNode(7);
  t.ok(Buffer.from((await edge.read('batch/000'))!).equals(large));
  t.same(asked, ['batch/000', 'batch/000', 'batch/000']);
  t.equal((await edge.read('checkpoint'))?.length, 0, 'an empty file is not a missing file');
  t.equal(await edge.read('batch/001'), undefined);
  t.same(await edge.facts(), FACTS);
  const alone = new LogQuestions({ bus, node: 7, aggregators: () => [1], nowNs: () => 0n });
  await t.rejects(alone.read('checkpoint'), /no responders/);
  const none = new LogQuestions({ bus, node: 7, aggregators: () => [], nowNs: () => 0n });
  await t.rejects(none.read('checkpoint'), /no aggregator is present/);
});

test('another aggregator is asked first every minute', async (t) => {
  const asked: string[] = [];
  const bus = {
    answer: () => () => {},
    ask: async (topic: string) => {
      asked.push(topic.split('.').at(-1)!);
      return new Uint8Array(0);
    },
  };
  let nowNs = 0n;
  const questions = new LogQuestions({ bus, node: 7, aggregators: () => [1, 2, 3], nowNs: () => nowNs });
  for (let minute = 0; minute < 4; minute++) {
    await questions.read('batch/000');
    nowNs += 60n * SECOND_NS;
  }
  t.same(asked.join(' '), '1 2 3 2 3 1 3 1 2 1 2 3');
});

test('an answer of a hostile node ends the question', async (t) => {
  const answers: [string, Uint8Array[]][] = [
    ['a size without bytes', [Buffer.from([0, 0, 0, 9])]],
    ['a small part', [Buffer.from([0, 0, 0, 9, 1])]],
    ['more bytes than the size', [Buffer.from([0, 0, 0, 1, 1, 2])]],
    ['a size of 4 GB', [Buffer.from([255, 255, 255, 255, 1])]],
  ];
  for (const [name, [answer]] of answers) {
    const bus = { ask: async () => answer!, answer: () => () => {} };
    const questions = new LogQuestions({ bus, node: 7, aggregators: () => [1], nowNs: () => 0n });
    await t.rejects(questions.read('batch/000'), /invalid part/, name);
  }
  const bus = { ask: async () => Buffer.from([0, 0, 0, 2, 0x7b, 0x7d]), answer: () => () => {} };
  const questions = new LogQuestions({ bus, node: 7, aggregators: () => [1], nowNs: () => 0n });
  t.equal(await questions.facts(), undefined, 'facts without their fields');
});

test('a node that asks too much receives no answer, and another node does', async (t) => {
  const bus = new QuestionBus();
  const clock = { nowNs: SECOND_NS };
  const questions = new LogQuestions({ bus, node: 1, aggregators: () => [], nowNs: () => clock.nowNs });
  questions.answer({
    publicPart: async () => ({ size: 500_000, bytes: Buffer.alloc(500_000) }),
    facts: () => undefined,
  });
  const question = Buffer.concat([Buffer.alloc(4), Buffer.from('batch/000')]);
  const ask = (from: number) => bus.ask(`ask.log.${from}.1`, question);
  t.equal(askerOf('ask.log.7.1'), 7);
  let answered = 0;
  while (answered < 1_000 && (await ask(7).catch(() => undefined)) !== undefined) answered++;
  t.ok(answered > 10 && answered < 200, `${answered} answers`);
  t.equal((await ask(8)).length, 500_004);
  clock.nowNs += SECOND_NS;
  t.equal((await ask(7)).length, 500_004, 'a second later it receives answers again');
  await t.rejects(bus.ask('ask.log.8.1', Buffer.alloc(4)), /not a question/);
  await t.rejects(bus.ask('ask.log.8.1', Buffer.alloc(400)), /not a question/);
});

test('a question beyond the budget, or beside other questions, costs no reading', async (t) => {
  const bus = new QuestionBus();
  const questions = new LogQuestions({ bus, node: 1, aggregators: () => [], nowNs: () => SECOND_NS });
  let reads = 0;
  questions.answer({ publicPart: async () => void reads++, facts: () => undefined });
  const question = Buffer.concat([Buffer.alloc(4), Buffer.from('batch/000')]);
  const ask = (from: number) => bus.ask(`ask.log.${from}.1`, question).catch(() => undefined);
  for (let i = 0; i < 20_000; i++) await ask(7);
  t.ok(reads > 1_000 && reads < 10_000, `${reads} reads for 20,000 questions for a missing file`);
  reads = 0;
  const atOnce = await Promise.all(Array.from({ length: 100 }, () => ask(8)));
  t.equal(reads, 2, 'few files are in memory at the same time');
  t.equal(atOnce.filter((answer) => answer !== undefined).length, 2);
  await ask(8);
  t.equal(reads, 3, 'the next question is answered');
});

test('a part of a file is read alone', async (t) => {
  const source = new SourceLog(t);
  await source.grow(2);
  for (const path of [
    'batch/001',
    'tile/entries/000.p/2',
    'checkpoint',
    'batch/002',
    '../tlog-state/sealed',
  ]) {
    const file = await source.reader.publicFile(path);
    const part = await source.reader.publicPart(path, 7, 20);
    t.same(part, file && { size: file.length, bytes: file.subarray(7, 27) }, path);
    const beyond = await source.reader.publicPart(path, 1_000_000, 20);
    t.same(beyond, file && { size: file.length, bytes: Buffer.alloc(0) }, path);
  }
});

test('a copy that was killed between its last batch and the public files goes on', async (t) => {
  const source = new SourceLog(t);
  const asked: string[] = [];
  const read: OtherLogFiles['read'] = (path) => {
    asked.push(path);
    return source.reader.publicFile(path);
  };
  const { folders, warnings, show, shown } = mirrorIn(t, source.others({ read }));
  await source.grow(3);
  const killed = await Ledger.open({ ...folders, origin: LOG_ORIGIN, onMismatch: t.fail });
  for (const entry of source.entries)
    await killed.apply(entry, async (batch) =>
      splitRecords((await source.reader.publicFile(`batch/00${batch}`))!),
    );
  await killed.close();
  const note = signed(await source.grow(0));
  await show(note);
  t.same(warnings, []);
  t.equal(await shown(), note.toString());
  t.same(asked, [], 'nothing is copied again');
  await checkCopied(t, source.folders.publicFolder, folders.publicFolder);
});

test('an edge that ends does not wait for a long copy', async (t) => {
  const source = new SourceLog(t);
  let reads = 0;
  let answer = () => {};
  const isAnswered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const read: OtherLogFiles['read'] = async (path) => {
    reads++;
    await isAnswered;
    return source.reader.publicFile(path);
  };
  const { mirror } = mirrorIn(t, source.others({ read }));
  mirror.follow('checkpoint', signed(await source.grow(20)));
  mirror.tick();
  await eventually(async () => (reads === 1 ? true : undefined));
  const closed = mirror.close();
  answer();
  await closed;
  t.equal(reads, 1);
});

test('a reader forgets the files of a log that another log replaces', async (t) => {
  const source = new SourceLog(t);
  const head = await source.grow(2);
  const { publicFolder } = source.folders;
  const note = (origin: string) => {
    const text = formatCheckpoint({ origin, ...head });
    return formatNote({ text, signatures: [LOG.sign(origin, text)] });
  };
  const place = { signatureType: 'evm', symbolHash: Buffer.alloc(32), timeNs: 5n } as const;
  await writeFile(join(publicFolder, 'checkpoint'), note(LOG_ORIGIN));
  await source.reader.proofOf(place);
  // The first batch of the other log contains no records, so the reader needs no file of records.
  const bundle = Buffer.from(await readFile(join(publicFolder, 'tile/entries/000.p/2'))).toString('latin1');
  const later = bundle.replace('from 0\nto 1000000000', 'from 6\nto 1000000000');
  await writeFile(join(publicFolder, 'tile/entries/000.p/2'), later, 'latin1');
  await writeFile(join(publicFolder, 'checkpoint'), note('other.example/log'));
  t.match(await source.reader.proofOf(place), { reason: /begins after this time/ });
});

test('a node that lacked batches before its restart adds none, and copies them without another part', async (t) => {
  const source = new SourceLog(t);
  const head = await source.grow(5);
  const parts = { batch: source.entries[4]!, head: headOf(head) };
  for (const kind of ['batch', 'head'] as const) await checkRestart(t, source, kind, parts[kind]);
});

async function checkRestart(t: Test, source: SourceLog, kind: 'batch' | 'head', part: Uint8Array) {
  const before = await emptyFollower(t);
  before.followed.joinOthers(source.others({ read: () => Promise.reject(new Error('away')) }));
  before.followed.receive(kind, part);
  // The store commits the parts that the node has received, so the log of prices does not deliver these parts again.
  await before.followed.write();
  await before.close();
  const { followed, ledger, clock } = await emptyFollower(t, before.folders);
  let isAway = true;
  const read: OtherLogFiles['read'] = async (path) => {
    if (isAway) throw new Error('no aggregator is present');
    return source.reader.publicFile(path);
  };
  followed.joinOthers(source.others({ read }));
  await t.rejects(followed.requireComplete(), /0 of 5 batches: no aggregator is present/);
  isAway = false;
  await t.rejects(followed.requireComplete(), /0 of 5 batches/, 'the next attempt waits');
  clock.nowMs += 5_000;
  await followed.requireComplete();
  t.equal(ledger.head.size, 5n);
}

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
