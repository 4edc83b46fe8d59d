import { parentPort, workerData } from 'node:worker_threads';
import { CallerTimes } from '../../../src/server/access/caller_times.js';
import { CallerCounts, type SharedAccess } from '../../../src/server/access/shared_access.js';
import { TicketIssuer } from '../../../src/server/access/ticket_issuer.js';
import { FakeClock } from '../../clock/fake_clock.js';

/** The number of threads that race for the same callers and tickets at the same time. */
export const RACING_THREADS = 2;

export interface RaceStart {
  readonly thread: number;
  readonly access: SharedAccess;
  readonly tickets: SharedArrayBuffer;
  /** The tickets that all threads try to take, one in each of the first rounds. */
  readonly texts: readonly string[];
  /** The token for which the thread issues a ticket in each of these rounds. */
  readonly tokenHash: Uint8Array;
  /** An `Int32` that counts how often a thread was ready for the next round. */
  readonly ready: SharedArrayBuffer;
  readonly rounds: number;
  readonly triesPerRound: number;
  readonly connectionsMax: number;
}

export interface RaceReport {
  /** The number of connections that the thread opened, by round. */
  readonly opened: readonly number[];
  /** The hashes of the tokens whose tickets the thread took. */
  readonly taken: readonly string[];
  readonly issued: readonly string[];
}

export const callerOf = (round: number) => `caller ${round}`;

if (parentPort !== null) {
  const start = workerData as RaceStart;
  const counts = new CallerCounts(start.access.callers, start.thread);
  const times = new CallerTimes(start.access.requests);
  const tickets = new TicketIssuer(start.tickets, new FakeClock());
  const ready = new Int32Array(start.ready);
  const opened: number[] = [];
  const taken: string[] = [];
  const issued: string[] = [];
  for (let round = 0; round < start.rounds; round++) {
    Atomics.add(ready, 0, 1);
    while (Atomics.load(ready, 0) < (round + 1) * RACING_THREADS);
    const text = start.texts[round];
    if (text !== undefined) {
      taken.push(...[tickets.take(text) ?? []].flat());
      issued.push(tickets.issue(Buffer.from(start.tokenHash))!.text);
    }
    const place = counts.placeOf(callerOf(round));
    let count = 0;
    for (let i = 0; i < start.triesPerRound; i++) {
      times.update(callerOf(round), (before) => before + 1n);
      if (counts.open(place, start.connectionsMax)) count++;
    }
    opened.push(count);
  }
  parentPort.postMessage({ opened, taken, issued } satisfies RaceReport);
}
