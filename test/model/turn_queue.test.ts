import fc from 'fast-check';
import { test } from 'tap';
import { TURN_MS_MAX, TurnQueue } from '../../src/model/turn_queue.js';

/** A queue with a clock that advances only during work. */
class Bench {
  nowMs = 0;
  readonly done: string[] = [];
  readonly queue: TurnQueue;
  readonly #deferred: (() => void)[] = [];
  readonly #connections = new Map<string, object>();

  constructor(waitingBytesMax = 1_000_000) {
    this.queue = new TurnQueue({
      waitingBytesMax,
      nowMs: () => this.nowMs,
      defer: (callback) => {
        this.#deferred.push(callback);
      },
    });
  }

  /** Adds work that takes some time. @param name the caller and the number of its connection, such as `alice1` */
  add(name: string, workMs: number, note = name, place: 'last' | 'first' = 'last'): void {
    const caller = name.replace(/\d+$/, '');
    if (!this.#connections.has(name)) this.#connections.set(name, {});
    const owner = { caller, connection: this.#connections.get(name)! };
    const work = () => {
      this.nowMs += workMs;
      this.done.push(note);
    };
    if (place === 'last') this.queue.run(owner, 100, work);
    else this.queue.resume(owner, work);
  }

  /** Returns the work that was done since the last call. */
  news(): string[] {
    return this.done.splice(0);
  }

  endTurn(): void {
    for (const callback of this.#deferred.splice(0)) callback();
  }

  get isIdle(): boolean {
    return this.#deferred.length === 0;
  }
}

test('work is done at once until the time of the turn is used up, and goes on in the next', async (t) => {
  const bench = new Bench();
  t.equal(
    bench.queue.now(() => 7),
    7,
    'what it returns',
  );
  for (const note of ['1', '2', '3', '4', '5']) bench.add('a', 1, note);
  t.same(bench.news(), ['1', '2']);
  bench.endTurn();
  t.same(bench.news(), ['3', '4']);
  bench.endTurn();
  t.same(bench.news(), ['5']);
  bench.endTurn();
  t.ok(bench.isIdle, 'nothing is deferred when there is nothing to do');
});

test('work that comes while other work is done waits for its end, and for the next turn when that took long', (t) => {
  const bench = new Bench();
  const owner = { caller: 'a', connection: {} };
  const addThree = () => {
    for (const note of ['1', '2', '3']) bench.add('b', 1, note);
    t.notOk(bench.queue.isFree);
    bench.done.push('outer');
  };
  bench.queue.run(owner, 0, addThree);
  t.same(bench.news(), ['outer']);
  bench.endTurn();
  t.same(bench.news(), ['1', '2'], 'two milliseconds');
  bench.endTurn();
  t.same(bench.news(), ['3']);
  t.end();
});

test('one whose work comes singly does not go before everybody each time', async (t) => {
  const bench = new Bench();
  bench.add('single1', TURN_MS_MAX);
  for (let i = 0; i < 100; i++) bench.add('many1', TURN_MS_MAX / 10);
  bench.news();
  let single = 0;
  for (let turn = 0; turn < 60; turn++) {
    // The caller's next work arrives after its previous work was done.
    bench.add('single1', 2 * TURN_MS_MAX);
    bench.endTurn();
    single += bench.done.filter((note) => note === 'single1').length;
    if (bench.done.splice(0).length === 0) t.fail('nothing was done in a turn');
  }
  bench.add('many1', 0, 'last');
  for (let turn = 0; turn < 3; turn++) bench.endTurn();
  t.ok(bench.news().includes('last'), 'both had their part of the time');
  t.ok(single >= 5, `${single} pieces`);
});

test('a caller with little to do does not wait behind one with much, however many connections that has', async (t) => {
  const bench = new Bench();
  bench.add('much1', TURN_MS_MAX);
  for (let connection = 1; connection <= 50; connection++)
    for (let i = 0; i < 3; i++) bench.add(`much${connection}`, 5);
  bench.news();
  bench.endTurn();
  bench.add('little1', 0.1);
  bench.endTurn();
  bench.endTurn();
  t.same(bench.news(), ['much1', 'little1', 'much2', 'much3'], 'after the piece that was under way');
});

test('the connections of a caller take turns, each in its own order', async (t) => {
  const bench = new Bench();
  bench.add('a1', TURN_MS_MAX);
  for (const note of ['1.1', '1.2', '1.3']) bench.add('a1', 0, note);
  bench.add('a2', 0, '2.1');
  bench.add('a3', 0, '3.1');
  bench.add('a1', 0, '1.0', 'first');
  bench.news();
  bench.endTurn();
  t.same(bench.news(), ['1.0', '2.1', '3.1', '1.1', '1.2', '1.3']);
});

test('a caller may have half of the memory waiting that is left', async (t) => {
  const bench = new Bench(64_000);
  const { queue } = bench;
  bench.add('busy1', TURN_MS_MAX);
  const fill = (name: string) => {
    let count = 0;
    for (; queue.hasRoom(name, 100); count++) bench.add(`${name}1`, 0);
    return count;
  };
  const entryBytes = 100 + 256;
  t.equal(fill('a'), Math.floor(32_000 / entryBytes));
  const left = 64_000 - queue.waitingBytes;
  t.equal(fill('b'), Math.floor(left / 2 / entryBytes));
  t.ok(queue.hasRoom('c', 1_000_000), 'one that has nothing waiting');
  bench.endTurn();
  t.equal(queue.waitingBytes, 0);
  t.ok(queue.hasRoom('a', 100));
});

test('whatever comes when, all of it is done, in order for each connection, and no turn does more than its time', (t) => {
  const step = fc.oneof(
    fc.record({ name: fc.constantFrom('a1', 'a2', 'b1', 'c1'), workMs: fc.constantFrom(0, 0.3, 1, 5) }),
    fc.constant('turn' as const),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const bench = new Bench();
      const expected = new Map<string, string[]>();
      let count = 0;
      for (const one of steps) {
        if (one === 'turn') {
          const beforeMs = bench.nowMs;
          bench.endTurn();
          if (bench.nowMs - beforeMs >= TURN_MS_MAX + 5) return false;
        } else {
          const note = `${one.name} ${++count}`;
          expected.set(one.name, [...(expected.get(one.name) ?? []), note]);
          bench.add(one.name, one.workMs, note);
        }
      }
      while (!bench.isIdle) bench.endTurn();
      const done = bench.news();
      return [...expected].every(
        ([name, notes]) => done.filter((note) => note.startsWith(`${name} `)).join() === notes.join(),
      );
    }),
  );
  t.end();
});
