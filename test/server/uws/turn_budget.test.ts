import { test } from 'tap';
import {
  LONG_TURN_MS,
  MESSAGES_IN_LONG_TURN_MAX,
  REQUESTS_PER_TURN,
  TurnBudget,
} from '../../../src/server/uws/turn_budget.js';

/** Makes a fake event loop, whose turns the test ends. */
function fakeLoop() {
  const callbacks: (() => void)[] = [];
  return {
    endOfTurn: (callback: () => void) => void callbacks.push(callback),
    endTurn(): void {
      for (const callback of callbacks.splice(0)) callback();
    },
  };
}

test('late requests are answered first, in their order, as many in a turn as others', async (t) => {
  const loop = fakeLoop();
  const budget = new TurnBudget(loop.endOfTurn);
  let taken = 0;
  while (budget.take()) taken++;
  t.equal(taken, REQUESTS_PER_TURN);
  const answered: number[] = [];
  const late = 2 * REQUESTS_PER_TURN + 5;
  for (let i = 0; i < late; i++) budget.later(() => answered.push(i));
  loop.endTurn();
  t.equal(answered.length, REQUESTS_PER_TURN);
  t.notOk(budget.take(), 'a newcomer waits behind those that wait');
  loop.endTurn();
  t.equal(answered.length, 2 * REQUESTS_PER_TURN);
  loop.endTurn();
  t.same(answered, [...Array(late).keys()]);
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
    () => worked++,
    () => cpuMs,
  );
  const busy = { turn: 0, messagesInTurn: 0 };
  const quiet = { ...busy };
  for (let i = 0; i < 2 * MESSAGES_IN_LONG_TURN_MAX; i++)
    t.ok(budget.countMessage(busy), 'the turn is short');
  cpuMs = LONG_TURN_MS;
  t.notOk(budget.countMessage(busy));
  t.ok(budget.countMessage(quiet));
  loop.endTurn();
  t.ok(budget.countMessage(busy), 'the next turn');
  t.equal(worked, 2 * MESSAGES_IN_LONG_TURN_MAX + 3);
});
