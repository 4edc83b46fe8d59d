import { setImmediate as turn } from 'node:timers/promises';
import type { JetStreamManager } from '@nats-io/jetstream';
import { test } from 'tap';
import { LOG_START } from '../../../src/cluster/bus.js';
import type { BusConnection } from '../../../src/cluster/nats/nats_connection.js';
import { Log } from '../../../src/cluster/nats/nats_log.js';
import { Names } from '../../../src/cluster/nats/nats_options.js';

/** A log whose servers answer when the test says so. */
function logWithAnswers(): { readonly log: Log; readonly answers: ((seq: number) => void)[] } {
  const answers: ((seq: number) => void)[] = [];
  const connection = {
    request: () => new Promise((resolve) => answers.push((seq) => resolve({ json: () => ({ seq }) }))),
  } as unknown as BusConnection;
  return { log: new Log(connection, {} as JetStreamManager, new Names('test')), answers };
}

test('a write does not wait for the answer of a server that leads the log no more', async (t) => {
  const { log, answers } = logWithAnswers();
  // The time limits of the log do not keep the process alive.
  const alive = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(alive));
  const append = () => log.append(LOG_START, 'a', Buffer.from('record'));

  const lost = append();
  const moved = log.moveLead(async () => {});
  await t.rejects(lost, { message: "the log's lead was moved before the answer" });
  await moved;

  const next = append();
  answers[1]!(1);
  t.equal(await next, 1);
  answers[0]!(1);
});

test("the log's lead moves between two writes", async (t) => {
  const { log, answers } = logWithAnswers();
  const append = (id: string) => log.append(LOG_START, id, Buffer.from('record'));
  let endMove!: () => void;
  let isMoving = false;

  const before = append('a');
  const moved = log.moveLead(() => {
    isMoving = true;
    return new Promise((resolve) => {
      endMove = resolve;
    });
  });
  await turn();
  t.notOk(isMoving, 'the move waits for the answer to the write');
  answers[0]!(1);
  t.equal(await before, 1);
  await turn();
  t.ok(isMoving);

  const during = append('b');
  await turn();
  t.equal(answers.length, 1, 'the write waits for the move');
  endMove();
  await moved;
  await turn();
  t.equal(answers.length, 2);
  answers[1]!(2);
  t.equal(await during, 2);
});

test('a write goes on after a move that fails', async (t) => {
  const { log, answers } = logWithAnswers();
  const moved = log.moveLead(async () => {
    throw new Error('no server takes the lead');
  });
  const during = log.append(LOG_START, 'a', Buffer.from('record'));
  await t.rejects(moved, { message: 'no server takes the lead' });
  await turn();
  answers[0]!(1);
  t.equal(await during, 1);
});
