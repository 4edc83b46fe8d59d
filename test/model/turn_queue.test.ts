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
  for (const note of ['1', '2', '3', '4', '5']) bench.add('a', 1, note);
  t.same(bench.news(), ['1', '2']);
  bench.endTurn();
  t.same(bench.news(), ['3', '4']);
  bench.endTurn();
  t.same(bench.news(), ['5']);
  bench.endTurn();
  t.ok(bench.isIdle, 'nothing is deferred when there is nothing to do');
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
