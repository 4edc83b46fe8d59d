import { test } from 'tap';
import { PacedTurns } from '../../src/model/paced_turns.js';

test('callers take turns, and each piece is followed by a rest of twice its time', async (t) => {
  let nowMs = 0;
  const rests: { ms: number; callback: () => void }[] = [];
  const turns = new PacedTurns(
    () => nowMs,
    (callback, ms) => rests.push({ ms, callback }),
  );
  const done: string[] = [];
  const piece = (caller: string, name: string) =>
    turns.run(caller, async () => {
      nowMs += 5;
      done.push(name);
      if (name === 'a2') throw new Error('a2 fails');
    });
  const all = [
    piece('a', 'a1'),
    piece('a', 'a2'),
    piece('a', 'a3'),
    piece('a', 'a4'),
    piece('b', 'b1'),
    piece('b', 'b2'),
  ];
  const settled = Promise.allSettled(all);
  await all[0];
  t.same(done, ['a1'], 'one at a time');
  while (done.length < 6 || rests.length > 0) {
    const { ms, callback } = rests.shift()!;
    t.equal(ms, 10);
    callback();
    await new Promise((resolve) => setImmediate(resolve));
  }
  t.same(done, ['a1', 'a2', 'b1', 'a3', 'b2', 'a4']);
  t.equal(
    (await settled).filter(({ status }) => status === 'rejected').length,
    1,
    'others go on after a failure',
  );
  await piece('c', 'c1');
  t.equal(done.at(-1), 'c1', 'without others there is no wait');
});
