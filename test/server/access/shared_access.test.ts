import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { test } from 'tap';
import { CallerTimes } from '../../../src/server/access/caller_times.js';
import { CallerCounts, createSharedAccess, forgetThread } from '../../../src/server/access/shared_access.js';
import {
  COUNTING_THREADS,
  type CountingThreadReport,
  type CountingThreadStart,
  callerOf,
} from './counting_thread.js';

const ROUNDS = 3_000;
const TRIES = 20;
/** The limit, which is above the attempts of a single thread and below the attempts of both threads. */
const CONNECTIONS_MAX = 30;

/**
 * Lets both threads count {@link ROUNDS} callers one after the other. Both threads count the same caller at the same time.
 */
async function race() {
  const access = createSharedAccess(COUNTING_THREADS);
  const ready = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const reports = await Promise.all(
    Array.from({ length: COUNTING_THREADS }, async (_, thread) => {
      const workerData: CountingThreadStart = {
        thread,
        callers: access.callers,
        times: access.requests,
        ready,
        rounds: ROUNDS,
        triesPerRound: TRIES,
        connectionsMax: CONNECTIONS_MAX,
      };
      const worker = new Worker(new URL('./counting_thread.js', import.meta.url), { workerData });
      const [report] = (await once(worker, 'message')) as [CountingThreadReport];
      return report;
    }),
  );
  return { access, reports };
}

test('two threads that count the same callers at the same moment count each connection and each request once', async (t) => {
  const { access, reports } = await race();
  const times = new CallerTimes(access.requests);
  const opened = Array.from({ length: ROUNDS }, (_, round) =>
    reports.reduce((sum, report) => sum + report.opened[round]!, 0),
  );
  t.same(
    opened.filter((count) => count !== CONNECTIONS_MAX),
    [],
    'as many connections as there may be',
  );
  const tries = BigInt(COUNTING_THREADS * TRIES);
  const wrong = opened.flatMap((_, round) => {
    const counted = times.read(callerOf(round));
    return counted === tries ? [] : [{ round, counted }];
  });
  t.same(wrong, [], 'every request moved its time on');

  const counts = new CallerCounts(access.callers, 0);
  t.notOk(counts.open(counts.placeOf(callerOf(0)), CONNECTIONS_MAX));
  forgetThread(access, 1);
  for (const round of [0, 1, ROUNDS - 1]) {
    const place = counts.placeOf(callerOf(round));
    let again = 0;
    while (counts.open(place, CONNECTIONS_MAX)) again++;
    t.equal(again, reports[1]!.opened[round], 'those of the thread that ended are free again');
  }
});

test('streams are counted over all threads, and those of a thread that ended are forgotten', async (t) => {
  const access = createSharedAccess(2);
  const [first, second] = [0, 1].map((thread) => new CallerCounts(access.callers, thread)) as [
    CallerCounts,
    CallerCounts,
  ];
  t.ok(first.openStream(3));
  t.ok(second.openStream(3));
  t.ok(second.openStream(3));
  t.notOk(first.openStream(3));
  second.closeStream();
  t.ok(first.openStream(3));
  forgetThread(access, 1);
  t.ok(first.openStream(3));
  t.notOk(first.openStream(3), 'its own are still open');
});

test('callers have places of their own, the same for all threads', async (t) => {
  const access = createSharedAccess(2);
  const [first, second] = [0, 1].map((thread) => new CallerCounts(access.callers, thread)) as [
    CallerCounts,
    CallerCounts,
  ];
  const names = Array.from({ length: 1_000 }, (_, i) => `token ${i}`);
  const places = names.map((name) => first.placeOf(name));
  t.equal(new Set(places).size, names.length);
  t.same(
    names.toReversed().map((name) => second.placeOf(name)),
    places.toReversed(),
  );
  t.equal(first.placeOfBudgets(1) - first.placeOfBudgets(0), 8);
});

test('a thread asks the others for a place, and the one that has a connection with an older login gives it', async (t) => {
  const { callers } = createSharedAccess(2);
  const [asking, giving] = [new CallerCounts(callers, 0), new CallerCounts(callers, 1)];
  const place = asking.placeOf('key');
  const asked: bigint[] = [];
  const give = (counts: CallerCounts, has: boolean) =>
    counts.givePlace(place, (second) => {
      asked.push(second);
      return has;
    });
  give(giving, true);
  asking.requestPlace(place, 7n);
  give(asking, false);
  give(giving, true);
  give(giving, true);
  t.same(asked, [7n, 7n], 'one place for one request');
});
