import { test } from 'tap';
import { firstAtOnce, Outbox } from '../../../../src/service/edge/threads/pending_replies.js';

test('the first message of a turn is sent at once, the others of the turn together at its end', async (t) => {
  const sent: number[][] = [];
  const atEndOfTurn: (() => void)[] = [];
  const outbox = new Outbox<number>(
    (messages) => sent.push(messages),
    firstAtOnce((callback) => atEndOfTurn.push(callback)),
  );
  const endTurn = () => {
    for (const callback of atEndOfTurn.splice(0)) callback();
  };
  outbox.send(1);
  t.same(sent, [], 'not before the callback has ended');
  await Promise.resolve();
  t.same(sent, [[1]]);
  outbox.send(2);
  outbox.send(3);
  await Promise.resolve();
  t.same(sent, [[1]]);
  endTurn();
  t.same(sent, [[1], [2, 3]]);
  outbox.send(4);
  await Promise.resolve();
  t.same(sent, [[1], [2, 3], [4]], 'a new turn');
  endTurn();
  t.equal(atEndOfTurn.length, 0, 'nothing is left to do');
});
