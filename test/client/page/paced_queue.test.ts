import { test } from 'tap';
import { PacedQueue } from '../../../src/client/page/paced_queue.js';

const WAITING_MAX = 50;

/** Returns a queue whose first task has begun and does not end. */
function busyQueue() {
  const queue = new PacedQueue(0);
  let end = () => {};
  const first = queue.run(() => new Promise<void>((resolve) => (end = resolve)));
  return { queue, first, end: () => end() };
}

test('one after the other, whether or not one fails', async (t) => {
  const { queue, first, end } = busyQueue();
  const order: string[] = [];
  const task = (name: string) => async () => void order.push(name);
  const failing = queue.run(async () => {
    order.push('failing');
    throw new Error('overloaded');
  });
  const last = queue.run(task('last'));
  t.same(order, []);
  end();
  await first;
  await t.rejects(failing, /overloaded/);
  await last;
  t.same(order, ['failing', 'last']);
  await queue.run(task('later'));
  t.same(order.at(-1), 'later');
});

test('of those with one name only the newest waits, so an arrow key that is held does not fill it', async (t) => {
  const { queue, end } = busyQueue();
  const ran: number[] = [];
  const runs = Array.from({ length: 2 * WAITING_MAX }, (_, i) =>
    queue.run(async () => void ran.push(i), 'history'),
  );
  const results = Promise.allSettled(runs);
  end();
  const reasons = (await results).map((result) => result.status === 'rejected' && result.reason.message);
  t.same(ran, [2 * WAITING_MAX - 1]);
  t.same(new Set(reasons), new Set(['a newer request took its place', false]));
});

test('more than its limit are refused', async (t) => {
  const { queue, end } = busyQueue();
  const runs = Array.from({ length: WAITING_MAX }, () => queue.run(async () => {}));
  await t.rejects(
    queue.run(async () => {}),
    /too many requests/,
  );
  end();
  await Promise.all(runs);
});
