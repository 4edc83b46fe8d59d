import { test } from 'tap';
import {
  LOG_START,
  type LogExtent,
  type LogPosition,
  type LogRecord,
  RecordsMissing,
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
  const { follower, log, applied, damaged, broken, clock, reported, pass } = setUp(9, LOG_START, 6);
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

/**
 * @param count the number of records of the log
 * @param hole the sequence of a record that no server has
 */
function setUp(count: number, position: LogPosition = LOG_START, hole?: number) {
  const log = records(1, count);
  const applied: number[] = [];
  /** The last applied record each time the follower has caught up. */
  const caughtUp: (number | undefined)[] = [];
  const broken: string[] = [];
  const skipped: string[] = [];
  const damaged: string[] = [];
  const readFrom: number[] = [];
  const clock = { nowMs: 0 };
  const answer = { isLost: false };
  const reported = { end: 0, reconnects: 0 };
  let listener: (record: LogRecord) => void = () => {};
  const follower = new LogFollower({
    bus: {
      async read(after) {
        readFrom.push(after);
        if (answer.isLost) throw new Error('no answer');
        if (hole === after + 1 && log.length >= hole)
          throw new RecordsMissing(`the log lacks the records ${hole} to ${hole}`);
        const records = log.slice(after, after + 3);
        return records.filter(({ sequence }) => hole === undefined || sequence < hole || hole <= after);
      },
      append: async () => Promise.reject(new Error('the follower writes nothing')),
      async extent(): Promise<LogExtent> {
        return { firstSequence: 1, last: log.at(-1) ?? LOG_START };
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
    missing: () => {},
    broken: (reason) => broken.push(reason),
    faulty: (fault, reason) => (fault === 'skipped record' ? skipped : damaged).push(reason),
    restored: undefined,
    timing: { leaseMs: 1_000, retryMs: 100, regressedMs: 30_000 },
    nowMs: () => clock.nowMs,
  });
  return {
    follower,
    log,
    applied,
    caughtUp,
    broken,
    skipped,
    damaged,
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
