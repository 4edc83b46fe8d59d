import { test } from 'tap';
import { threadCpuMs } from '../../../src/server/uws/thread_cpu.js';
import {
  LONG_TURN_MS,
  MESSAGES_IN_LONG_TURN_MAX,
  REQUESTS_PER_TURN,
  TurnBudget,
} from '../../../src/server/uws/turn_budget.js';

/** Makes a fake event loop, whose turns the test ends. */
function fakeLoop() {
  let callbacks: (() => void)[] = [];
  return {
    endOfTurn: (callback: () => void) => void callbacks.push(callback),
    /** @returns the number of callbacks that were due */
    endTurn(): number {
      const due = callbacks;
      callbacks = [];
      for (const callback of due) callback();
      return due.length;
    },
  };
}

test('a turn takes so many requests, and the next one as many', async (t) => {
  const loop = fakeLoop();
  const budget = new TurnBudget(loop.endOfTurn);
  const takeAll = () => {
    let taken = 0;
    while (budget.take()) taken++;
    return taken;
  };
  t.equal(takeAll(), REQUESTS_PER_TURN);
  t.equal(loop.endTurn(), 1);
  t.equal(takeAll(), REQUESTS_PER_TURN);
  t.equal(loop.endTurn(), 1);
  t.equal(loop.endTurn(), 0, 'a turn without requests schedules nothing');
});

test('late requests are answered first, in their order, as many in a turn as others', async (t) => {
  const loop = fakeLoop();
  const budget = new TurnBudget(loop.endOfTurn);
  while (budget.take());
  const answered: number[] = [];
  const late = 2 * REQUESTS_PER_TURN + 5;
  for (let i = 0; i < late; i++) budget.later(() => answered.push(i));
  loop.endTurn();
  t.equal(answered.length, REQUESTS_PER_TURN);
  t.notOk(budget.take(), 'a newcomer waits behind those that wait');
  loop.endTurn();
  t.equal(answered.length, 2 * REQUESTS_PER_TURN);
  loop.endTurn();
  t.same(
    answered,
    Array.from({ length: late }, (_, i) => i),
  );
  let left = 0;
  while (budget.take()) left++;
  t.equal(left, REQUESTS_PER_TURN - 5);
});

test('a connection with many messages in a long turn is its cause, another one is not', async (t) => {
  const loop = fakeLoop();
  let cpuMs = 0;
  let worked = 0;
  const budget = new TurnBudget(
    loop.endOfTurn,
    () => {
      worked++;
    },
    () => cpuMs,
  );
  const [busy, quiet] = [
    { turn: 0, messagesInTurn: 0 },
    { turn: 0, messagesInTurn: 0 },
  ];
  for (let i = 0; i < 2 * MESSAGES_IN_LONG_TURN_MAX; i++)
    t.ok(budget.countMessage(busy), 'the turn is short');
  cpuMs = LONG_TURN_MS;
  t.notOk(budget.countMessage(busy));
  t.ok(budget.countMessage(quiet));
  loop.endTurn();
  t.ok(budget.countMessage(busy), 'the next turn');
  t.equal(worked, 2 * MESSAGES_IN_LONG_TURN_MAX + 3);
});

test('the CPU time of a thread grows with its work, and not while it sleeps', async (t) => {
  const beforeMs = threadCpuMs();
  const endMs = performance.now() + 10_000;
  let sum = 0;
  while (threadCpuMs() < beforeMs + 20 && performance.now() < endMs)
    for (let i = 0; i < 1e6; i++) sum += Math.sqrt(i);
  t.ok(threadCpuMs() >= beforeMs + 20, `${sum}`);
  const sleptFromMs = threadCpuMs();
  if (process.platform === 'linux') {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    t.ok(threadCpuMs() - sleptFromMs < 40);
  }
});
