import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { test } from 'tap';
import { CallerTimes } from '../../../src/server/access/caller_times.js';
import { CallerCounts, createSharedAccess, forgetThread } from '../../../src/server/access/shared_access.js';
import { createTicketMemory, TicketIssuer } from '../../../src/server/access/ticket_issuer.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { callerOf, RACING_THREADS, type RaceReport, type RaceStart } from './racing_thread.js';

const ROUNDS = 3_000;
const TRIES = 20;
/** The limit, which is above the attempts of a single thread and below the attempts of both threads. */
const CONNECTIONS_MAX = 30;
const TICKETS = 128;

const tokenHash = (n: number) => Buffer.alloc(32, n);
const hexOf = (n: number) => tokenHash(n).toString('hex');

/** Lets the threads race for the same callers and tickets, one caller after the other. */
async function race() {
  const access = createSharedAccess(RACING_THREADS);
  const memory = createTicketMemory();
  const tickets = new TicketIssuer(memory, new FakeClock());
  const texts = Array.from({ length: TICKETS }, (_, i) => tickets.issue(tokenHash(i))!.text);
  const ready = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const reports = await Promise.all(
    Array.from({ length: RACING_THREADS }, async (_, thread) => {
      const workerData: RaceStart = {
        thread,
        access,
        tickets: memory,
        texts,
        tokenHash: tokenHash(200 + thread),
        ready,
        rounds: ROUNDS,
        triesPerRound: TRIES,
        connectionsMax: CONNECTIONS_MAX,
      };
      const worker = new Worker(new URL('./racing_thread.js', import.meta.url), { workerData });
      return (await once(worker, 'message'))[0] as RaceReport;
    }),
  );
  return { access, tickets, reports };
}

test('two threads that count the same callers and take the same tickets at once count and take each once', async (t) => {
  const { access, tickets, reports } = await race();
  const times = new CallerTimes(access.requests);
  const opened = reports[0]!.opened.map((count, round) => count + reports[1]!.opened[round]!);
  t.same(new Set(opened), new Set([CONNECTIONS_MAX]), 'as many connections as there may be');
  const counted = opened.map((_, round) => times.read(callerOf(round)));
  t.same(new Set(counted), new Set([BigInt(RACING_THREADS * TRIES)]), 'every request moved its time on');
  const taken = reports.flatMap((report) => report.taken);
  t.same(taken.sort(), Array.from({ length: TICKETS }, (_, i) => hexOf(i)).sort());
  for (const [i, { issued }] of reports.entries())
    t.same(new Set(issued.map((text) => tickets.take(text))), new Set([hexOf(200 + i)]));

  const counts = new CallerCounts(access.callers, 0);
  t.notOk(counts.open(counts.placeOf(callerOf(0)), CONNECTIONS_MAX));
  forgetThread(access, 1);
  for (const round of [0, ROUNDS - 1]) {
    const place = counts.placeOf(callerOf(round));
    let again = 0;
    while (counts.open(place, CONNECTIONS_MAX)) again++;
    t.equal(again, reports[1]!.opened[round], 'those of the thread that ended are free again');
  }
});

test('streams are counted over all threads, and those of a thread that ended are forgotten', async (t) => {
  const access = createSharedAccess(2);
  const [first, second] = [new CallerCounts(access.callers, 0), new CallerCounts(access.callers, 1)];
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
