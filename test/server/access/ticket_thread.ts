import { parentPort, workerData } from 'node:worker_threads';
import { TicketIssuer } from '../../../src/server/access/ticket_issuer.js';
import { FakeClock } from '../../clock/fake_clock.js';

/** The number of threads that work together. All threads take the same tickets at the same time, and issue some tickets. */
export const TICKET_THREADS = 2;

export interface TicketThreadStart {
  readonly memory: SharedArrayBuffer;
  /** The tickets that all threads try to take. */
  readonly texts: readonly string[];
  /** An `Int32` that counts how often a thread was ready for the next ticket. */
  readonly ready: SharedArrayBuffer;
  /** The token for which the thread issues the same number of tickets. */
  readonly tokenHash: Uint8Array;
}

export interface TicketThreadReport {
  /** The hashes of the tokens whose tickets the thread took. */
  readonly taken: readonly string[];
  readonly issued: readonly string[];
}

if (parentPort !== null) {
  const { memory, texts, ready, tokenHash } = workerData as TicketThreadStart;
  const tickets = new TicketIssuer(memory, new FakeClock());
  const readyCount = new Int32Array(ready);
  const taken: string[] = [];
  const issued: string[] = [];
  for (const [i, text] of texts.entries()) {
    Atomics.add(readyCount, 0, 1);
    while (Atomics.load(readyCount, 0) < (i + 1) * TICKET_THREADS);
    const token = tickets.take(text);
    if (token !== undefined) taken.push(token);
    issued.push(tickets.issue(Buffer.from(tokenHash))!.text);
  }
  parentPort.postMessage({ taken, issued } satisfies TicketThreadReport);
}
