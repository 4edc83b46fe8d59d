import { test } from 'tap';
import {
  LOG_START,
  type LogExtent,
  type LogPosition,
  type LogRecord,
  RecordsMissing,
  WrongEnd,
} from '../../../src/cluster/bus.js';
import { LogFollower } from '../../../src/cluster/log/log_follower.js';
import { WITHOUT_THEM } from '../../../src/cluster/log/lost_records.js';
import { chainedRecord } from '../../../src/cluster/log/record_chain.js';

const CLAIM = { node: 1, name: 'one', run: 'r', attempt: 1, configHash: new Uint8Array(0), resign: false };

test('records are applied in order and once, however they come', async (t) => {
  const { follower, log, live, applied, caughtUp, readFrom } = setUp(6);
  follower.start();
  await turns();
  t.same(applied, [1, 2, 3, 4, 5, 6], 'what there was is read');
  t.same(caughtUp, [6]);
  log.push(...records(7, 10));
  for (const sequence of [7, 7, 9, 8, 10, 9]) live(log[sequence - 1]!);
  await turns();
  t.same(applied, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  t.equal(readFrom.at(-1), 9, 'from the gap on');
  t.equal(follower.lag, 0);
  t.ok(follower.isCaughtUp);
  t.same(caughtUp, [6], 'it says so once');
});

test('it says that it caught up when the end that the log had is applied, and not before', async (t) => {
  const { follower, log, live, caughtUp, clock, answer } = setUp(6, placeOf(4));
  answer.isLost = true;
  follower.start();
  log.push(...records(7, 7));
  live(log[6]!);
  await turns();
  t.same(caughtUp, [], 'nobody knows where the log ends');
  answer.isLost = false;
  clock.nowMs += 100;
  follower.tick(clock.nowMs);
  await turns();
  t.same(caughtUp, [7]);

  const stopped = setUp(6);
  stopped.follower.start();
  stopped.follower.stop();
  await turns();
  t.same(stopped.caughtUp, []);
});

test('an old copy of the log, which ends before the store, is not the end of the log', async (t) => {
  const { follower, log, applied, caughtUp, clock } = setUp(3, placeOf(5));
  follower.start();
  await turns();
  t.same(caughtUp, [], 'the log may have later records');
  t.notOk(follower.isCaughtUp);
  log.push(...records(4, 6));
  clock.nowMs += 100;
  follower.tick(clock.nowMs);
  await turns();
  t.same(applied, [6]);
  t.same(caughtUp, [6]);
});

test('it goes on where the store is', async (t) => {
  const { follower, applied, readFrom } = setUp(6, placeOf(4));
  follower.start();
  await turns();
  t.same(applied, [5, 6]);
  t.equal(readFrom[0], 4);
});

test('a log that is written without a pause is read to the end that it had, and no further', async (t) => {
  const { follower, log, live, applied, readFrom } = setUp(6, LOG_START, {
    meanwhile: () => {
      if (log.length >= 1_000) return;
      const after = log.at(-1)!.id;
      const next = chainedRecord({ epoch: 1, sequence: log.length + 1, after, entries: [] });
      log.push(next);
      live(next);
    },
  });
  follower.start();
  await turns();
  t.ok(follower.isCaughtUp);
  t.ok(readFrom.length < 10, `${readFrom.length} reads`);
  t.same(
    applied,
    [...log.keys()].map((i) => i + 1),
  );
});

test('after silence it reads: the last record may be lost on its way', async (t) => {
  const { follower, log, applied, clock } = setUp(1);
  follower.start();
  await turns();
  log.push(...records(2, 2));
  clock.nowMs += 999;
  follower.tick(clock.nowMs);
  await turns();
  t.same(applied, [1]);
  clock.nowMs += 1;
  t.equal(follower.nextDueMs(), clock.nowMs);
  follower.tick(clock.nowMs);
  await turns();
  t.same(applied, [1, 2]);
});

test('records that were deleted are missing, and it goes on behind them', async (t) => {
  const { follower, applied, missing, clock, deleteBefore } = setUp(9, placeOf(2));
  deleteBefore(6);
  follower.start();
  await turns();
  t.same(missing, [6]);
  follower.tick(clock.nowMs);
  await turns();
  t.same(applied, [6, 7, 8, 9]);
});

test('a log that ends before what was applied is read again for a while, and is then broken', async (t) => {
  const { follower, log, live, broken, pass } = setUp(5);
  follower.start();
  await turns();
  const lost = log.splice(3);
  await pass(1_000);
  log.push(...lost);
  await pass(30_000);
  t.same(broken, [], 'a server lagged');

  const [applied] = log.splice(3).slice(-1);
  log.push(...records(4, 5, 'x'));
  await pass(31_000);
  t.same(broken, [
    `the log has lost records: it ends with 5 (${log[4]!.id}), and this node has applied 5 (${applied!.id}), so at least 1 are lost${WITHOUT_THEM}`,
  ]);
  live(records(6, 6)[0]!);
  t.equal(follower.position.sequence, 5, 'nothing is applied any more');
});

test('records that the log has lost are appended again as they were, and others stay as they are', async (t) => {
  const { follower, log, restored, broken, pass } = setUp(9, LOG_START, { mayWrite: true });
  follower.start();
  await turns();
  const before = [...log];
  log.splice(4);
  await pass(2_000);
  t.same(log, before);
  t.same(restored, [5]);

  log.splice(4);
  log.push(...records(5, 6, 'x'));
  await pass(31_000);
  t.same(restored, [5], 'another node has written there');
  t.match(broken[0], /^the log has lost records: it ends with 6 /);
});

test('records that another node has applied and the log lacks are lost', async (t) => {
  const { follower, reported, broken, pass } = setUp(5);
  follower.start();
  await turns();
  t.notOk(follower.isBehind);
  reported.end = 7;
  t.ok(follower.isBehind);
  await pass(29_000);
  t.same(broken, [], 'the servers may lag');
  await pass(3_000);
  t.match(
    broken[0],
    /^the log has lost records: .*, and another node has applied 7, so at least 2 are lost;/,
  );
});

test('a record that no leader wrote does not hide that the record before it has changed', async (t) => {
  const { follower, log, skipped, broken, pass } = setUp(5);
  follower.start();
  await turns();
  log[4] = { ...log[4]!, id: 'other' };
  log.push({ sequence: 6, id: 'x', bytes: new Uint8Array(3) });
  await pass(32_000);
  t.same(skipped, []);
  t.match(broken[0], /^the log has lost records: it ends with 5 \(other\)/);
});

test('a record that no leader wrote is not skipped while the record before it cannot be compared', async (t) => {
  const foreign = { sequence: 6, id: 'x', bytes: new Uint8Array(3) };
  const { follower, log, skipped, broken, reported, pass } = setUp(5, placeOf(5), { hole: 5 });
  log.push(foreign);
  follower.start();
  await pass(20_000);
  t.same([skipped, broken], [[], []], 'another server may have the record');
  t.ok(reported.reconnects > 3, 'every server is asked');
  await pass(12_000);
  t.same([skipped, broken], [[], [`the log lacks the records 5 to 5${WITHOUT_THEM}`]]);

  const deleted = setUp(5, placeOf(5));
  deleted.log.push(foreign);
  deleted.deleteBefore(6);
  deleted.follower.start();
  await deleted.pass(1_000);
  t.equal(deleted.skipped.length, 1, 'the servers have deleted the record because of its age');
});

test('a record that no leader wrote is skipped by its reader, and the log goes on after it', async (t) => {
  const junk = [
    { id: 'x', bytes: new Uint8Array(3) },
    { id: records(6, 6)[0]!.id, bytes: records(6, 6, 'x')[0]!.bytes },
    records(5, 5)[0]!,
  ];
  for (const { id, bytes } of junk) {
    const { follower, log, live, applied, skipped, broken, pass } = setUp(5);
    follower.start();
    await turns();
    const stray = { sequence: 6, id, bytes };
    log.push(stray);
    live(stray);
    await pass(1_000);
    t.equal(skipped.length, 1);
    t.match(skipped[0], /^record 6 of the log /);
    t.same([follower.position, follower.lastId], [{ sequence: 6, id }, log[4]!.id]);
    live(chainedRecord({ epoch: 1, sequence: 7, after: follower.lastId, entries: [] }));
    t.same(applied, [1, 2, 3, 4, 5, 7]);
    t.equal(follower.skippedCount, 1);
    t.same(broken, []);
  }
});

test('a damaged record is read from another server; without one the log is broken at the next record', async (t) => {
  const flipped = (record: LogRecord): LogRecord => {
    const bytes = new Uint8Array(record.bytes);
    bytes[bytes.length >> 1]! ^= 4;
    return { ...record, bytes };
  };
  for (const isEverywhere of [false, true]) {
    const { follower, log, applied, skipped, damaged, broken, pass } = setUp(5);
    follower.start();
    await turns();
    const sound = records(6, 8);
    log.push(flipped(sound[0]!), ...sound.slice(1));
    // The follower reads after a silence of a second.
    await pass(1_100);
    if (!isEverywhere) log[5] = sound[0]!;
    await pass(1_000);
    t.same(applied, isEverywhere ? [1, 2, 3, 4, 5] : [1, 2, 3, 4, 5, 6, 7, 8]);
    t.equal(skipped.length, isEverywhere ? 1 : 0);
    t.same(damaged, ['record 6 of the log does not have the hash that is its ID'], 'named once');
    t.same(
      broken,
      isEverywhere
        ? [
            `record 7 of the log cannot be applied: it follows a damaged record: record 6 does not have the hash that is its ID${WITHOUT_THEM}`,
          ]
        : [],
    );
  }
});

test('a hole that stays is named', async (t) => {
  const { follower, log, applied, damaged, broken, clock, reported, pass } = setUp(9, LOG_START, {
    hole: 6,
  });
  follower.start();
  await pass(29_000);
  t.same(broken, []);
  await pass(2_000);
  t.same(broken, [`the log lacks the records 6 to 6${WITHOUT_THEM}`]);
  t.same(damaged, ['the log lacks the records 6 to 6'], 'named once, at the beginning');
  t.ok(reported.reconnects > 5, 'other servers were asked');
  t.same(applied, [1, 2, 3, 4, 5]);
  t.equal(log.length, 9);
  t.ok(clock.nowMs > 30_000);
});

test('a hole and a lost end are waited for apart', async (t) => {
  const { follower, log, broken, pass } = setUp(9, LOG_START, { hole: 6 });
  follower.start();
  await pass(29_000);
  const lost = log.splice(4);
  await pass(29_000);
  t.same(broken, [], 'a server that lags has neither the hole nor the end');
  log.push(...lost);
  await pass(29_000);
  t.same(broken, []);
  await pass(2_000);
  t.same(broken, [`the log lacks the records 6 to 6${WITHOUT_THEM}`]);
});

test('two writers of one epoch, a claim for another place, or another history break the log', async (t) => {
  const [{ id: after }] = records(5, 5) as [LogRecord];
  const cases: [string, Parameters<typeof chainedRecord>[0]][] = [
    ['record 6 of the log is of epoch 2 in epoch 1', { epoch: 2, sequence: 6, after, entries: [] }],
    [
      'record 6 of the log claims epoch 5, which is not its place',
      { epoch: 5, sequence: 6, after, entries: [], claim: CLAIM },
    ],
    [
      `record 6 of the log cannot be applied: it follows record other, and this node has applied ${after} before it${WITHOUT_THEM}`,
      { epoch: 1, sequence: 6, after: 'other', entries: [] },
    ],
  ];
  for (const [reason, batch] of cases) {
    const { follower, live, broken } = setUp(5);
    follower.start();
    await turns();
    live(chainedRecord(batch));
    t.same(broken, [reason]);
  }
});

interface Circumstances {
  /** Called during a read of records. */
  readonly meanwhile?: () => void;
  readonly mayWrite?: boolean;
  /** The sequence of a record that no server has. */
  readonly hole?: number;
}

/** @param count the number of records of the log */
function setUp(
  count: number,
  position: LogPosition = LOG_START,
  { meanwhile, mayWrite, hole }: Circumstances = {},
) {
  const log = records(1, count);
  const applied: number[] = [];
  /** The last applied record each time the follower has caught up. */
  const caughtUp: (number | undefined)[] = [];
  const missing: number[] = [];
  const broken: string[] = [];
  const skipped: string[] = [];
  const damaged: string[] = [];
  const restored: number[] = [];
  const readFrom: number[] = [];
  const clock = { nowMs: 0 };
  const answer = { isLost: false };
  const reported = { end: 0, reconnects: 0 };
  let firstSequence = 1;
  let listener: (record: LogRecord) => void = () => {};
  const follower = new LogFollower({
    bus: {
      async read(after) {
        readFrom.push(after);
        meanwhile?.();
        if (answer.isLost) throw new Error('no answer');
        if (after + 1 < firstSequence) throw new Error('deleted');
        if (hole === after + 1 && log.length >= hole)
          throw new RecordsMissing(`the log lacks the records ${hole} to ${hole}`);
        const records = log.slice(after, after + 3);
        return records.filter(({ sequence }) => hole === undefined || sequence < hole || hole <= after);
      },
      async append(after, id, bytes) {
        const end = log.at(-1) ?? LOG_START;
        if (end.sequence !== after.sequence || end.id !== after.id) throw new WrongEnd('another end');
        return log.push({ sequence: after.sequence + 1, id, bytes });
      },
      async extent(): Promise<LogExtent> {
        return { firstSequence, last: log.at(-1) ?? LOG_START };
      },
      onCommitted(listen) {
        listener = listen;
        return () => {};
      },
      reconnect: () => {
        reported.reconnects++;
      },
    },
    position,
    reportedEnd: () => reported.end,
    apply: (_, { sequence }) => applied.push(sequence),
    caughtUp: () => caughtUp.push(applied.at(-1)),
    missing: (sequence) => missing.push(sequence),
    broken: (reason) => broken.push(reason),
    faulty: (fault, reason) => (fault === 'skipped record' ? skipped : damaged).push(reason),
    restored: mayWrite ? (number) => restored.push(number) : undefined,
    timing: { leaseMs: 1_000, retryMs: 100, regressedMs: 30_000 },
    nowMs: () => clock.nowMs,
  });
  return {
    follower,
    log,
    applied,
    caughtUp,
    missing,
    broken,
    skipped,
    damaged,
    restored,
    readFrom,
    clock,
    /** Advances the time. */
    async pass(ms: number) {
      for (const endMs = clock.nowMs + ms; clock.nowMs < endMs; clock.nowMs += 100) {
        follower.tick(clock.nowMs);
        await turns();
      }
    },
    answer,
    reported,
    live: (record: LogRecord) => listener(record),
    deleteBefore: (sequence: number) => {
      firstSequence = sequence;
    },
  };
}

/** Returns records of the epoch that began with the first record. */
function records(first: number, last: number, name = 'r'): LogRecord[] {
  const chain: LogRecord[] = [];
  for (let sequence = 1; sequence <= last; sequence++) {
    const claim = sequence === 1 ? { ...CLAIM, name } : undefined;
    const after = chain.at(-1)?.id ?? '';
    chain.push(chainedRecord({ epoch: 1, sequence, after, claim, entries: [] }));
  }
  return chain.slice(first - 1);
}

function placeOf(sequence: number): LogPosition {
  return { sequence, id: records(sequence, sequence)[0]!.id };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await undefined;
}
