import { test } from 'tap';
import { LOG_START, type LogExtent, type LogPosition, type LogRecord } from '../../../src/cluster/bus.js';
import { encodeLogBatch } from '../../../src/cluster/log/log_batch.js';
import { LogFollower } from '../../../src/cluster/log/log_follower.js';

const CLAIM = { node: 1, name: 'one', run: 'r', configHash: new Uint8Array(0), resign: false };

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
  const { follower, log, live, caughtUp, clock, answer } = setUp(6, { sequence: 4, id: 'r4' });
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

test('it goes on where the store is', async (t) => {
  const { follower, applied, readFrom } = setUp(6, { sequence: 4, id: 'r4' });
  follower.start();
  await turns();
  t.same(applied, [5, 6]);
  t.equal(readFrom[0], 4);
});

test('a log that is written without a pause is read to the end that it had, and no further', async (t) => {
  const { follower, log, live, applied, readFrom } = setUp(6, LOG_START, () => {
    if (log.length >= 1_000) return;
    const [next] = records(log.length + 1, log.length + 1) as [LogRecord];
    log.push(next);
    live(next);
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
  const { follower, applied, missing, clock, deleteBefore } = setUp(9, { sequence: 2, id: 'r2' });
  deleteBefore(6);
  follower.start();
  await turns();
  t.same(missing, [6]);
  follower.tick(clock.nowMs);
  await turns();
  t.same(applied, [6, 7, 8, 9]);
});

test('a log that ends before what was applied is read again for a while, and is then broken', async (t) => {
  const { follower, log, live, broken, clock } = setUp(5);
  follower.start();
  await turns();
  const lost = log.splice(3);
  for (let ms = 0; ms <= 1_000; ms += 100) {
    clock.nowMs += 100;
    follower.tick(clock.nowMs);
    await turns();
  }
  t.notOk(follower.nextDueMs() > clock.nowMs + 100);
  log.push(...lost);
  clock.nowMs += 30_000;
  follower.tick(clock.nowMs);
  await turns();
  t.same(broken, [], 'a server lagged');

  log.splice(3);
  log.push(...records(4, 5, 'x'));
  for (let ms = 0; ms <= 31_000; ms += 500) {
    clock.nowMs += 500;
    follower.tick(clock.nowMs);
    await turns();
  }
  t.same(broken, ['the log has lost records: it ends with 5 (x5), and this node has applied 5 (r5)']);
  live(records(6, 6)[0]!);
  t.equal(follower.position.sequence, 5, 'nothing is applied any more');
});

test('a log that two wrote, or another log, is broken', async (t) => {
  const cases: [string, Parameters<typeof encodeLogBatch>[0]][] = [
    [
      'record 6 of the log follows record other, and this node has applied r5 before it',
      { epoch: 1, after: 'other', entries: [] },
    ],
    ['record 6 of the log is of epoch 2 in epoch 1', { epoch: 2, after: 'r5', entries: [] }],
    [
      'record 6 of the log claims epoch 5, which is not its place',
      { epoch: 5, after: 'r5', entries: [], claim: CLAIM },
    ],
  ];
  for (const [reason, batch] of cases) {
    const { follower, live, broken } = setUp(5);
    follower.start();
    await turns();
    live({ sequence: 6, id: 'r6', bytes: encodeLogBatch(batch) });
    t.same(broken, [reason]);
  }
  const { follower, live, broken } = setUp(5);
  follower.start();
  await turns();
  live({ sequence: 6, id: 'r6', bytes: new Uint8Array(3) });
  t.match(broken[0], /^record 6 of the log cannot be applied: /);
});

/**
 * Sets up a follower of a log.
 * @param count the number of records of the log
 * @param meanwhile called while records are being read
 */
function setUp(count: number, position: LogPosition = LOG_START, meanwhile = () => {}) {
  const log = records(1, count);
  const applied: number[] = [];
  /** The last applied record at each time at which the follower had caught up. */
  const caughtUp: (number | undefined)[] = [];
  const missing: number[] = [];
  const broken: string[] = [];
  const readFrom: number[] = [];
  const clock = { nowMs: 0 };
  const answer = { isLost: false };
  let firstSequence = 1;
  let listener: (record: LogRecord) => void = () => {};
  const follower = new LogFollower({
    bus: {
      async read(after) {
        readFrom.push(after);
        meanwhile();
        if (answer.isLost) throw new Error('no answer');
        if (after + 1 < firstSequence) throw new Error('deleted');
        return log.slice(after, after + 3);
      },
      async extent(): Promise<LogExtent> {
        return { firstSequence, last: log.at(-1) ?? LOG_START };
      },
      onCommitted(listen) {
        listener = listen;
        return () => {};
      },
    },
    position,
    apply: (_, { sequence }) => applied.push(sequence),
    caughtUp: () => caughtUp.push(applied.at(-1)),
    missing: (sequence) => missing.push(sequence),
    broken: (reason) => broken.push(reason),
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
    readFrom,
    clock,
    answer,
    live: (record: LogRecord) => listener(record),
    deleteBefore: (sequence: number) => {
      firstSequence = sequence;
    },
  };
}

/** Returns the records of an epoch. The record `first` began the epoch. */
function records(first: number, last: number, name = 'r'): LogRecord[] {
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const sequence = first + i;
    const after = sequence === 1 ? '' : `${name}${sequence - 1}`;
    const claim = sequence === 1 ? CLAIM : undefined;
    return {
      sequence,
      id: `${name}${sequence}`,
      bytes: encodeLogBatch({ epoch: 1, after, claim, entries: [] }),
    };
  });
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await undefined;
}
