import { test } from 'tap';
import { arrayForm, type Kind, QueuedWork } from '../../../src/crypto/pool/queued_work.js';
import { Turn } from '../../../src/crypto/pool/turn.js';

/** A kind of work with jobs of 100 µs. */
const KIND: Kind<number[], number[]> = {
  name: 'some',
  jobMicros: 100,
  atOnce: 2,
  jobs: arrayForm(),
  results: arrayForm(),
  inline: (jobs) => jobs,
  encode: () => Buffer.alloc(0),
  decode: () => [],
};

function start() {
  const ends: (() => void)[] = [];
  const handedOn: (readonly [jobs: number, micros: number])[] = [];
  const turn = new Turn(
    (end) => ends.push(end),
    (pieces, micros) => handedOn.push([pieces.reduce((sum, { leftCount }) => sum + leftCount, 0), micros]),
  );
  return {
    turn,
    handedOn,
    push: (jobs: number) => turn.add(new QueuedWork(KIND, new Array<number>(jobs).fill(0), 0) as QueuedWork),
    /** Ends the turn of the event loop. */
    end: () => {
      for (const each of ends.splice(0)) each();
    },
    waits: () => ends.length,
  };
}

test('what comes in one turn is handed on together at its end', async (t) => {
  const { turn, handedOn, push, end } = start();
  t.notOk(turn.isRunning);
  turn.begin();
  t.ok(turn.isRunning);
  push(1);
  push(2);
  t.same(handedOn, []);
  end();
  t.same(handedOn, [[3, 300]]);
});

test('much is handed on before', async (t) => {
  const { turn, handedOn, push, end } = start();
  turn.begin();
  push(3);
  push(4);
  t.same(handedOn, [[7, 700]]);
  push(1);
  end();
  t.same(handedOn, [
    [7, 700],
    [1, 100],
  ]);
});

test('after a turn with several the next one gathers from its first, until one had few', async (t) => {
  const { turn, push, end, handedOn, waits } = start();
  turn.begin();
  push(1);
  push(1);
  end();
  t.ok(turn.isRunning);
  push(1);
  end();
  t.notOk(turn.isRunning, 'one alone need not wait the next time');
  t.same(handedOn, [
    [2, 200],
    [1, 100],
  ]);
  t.equal(waits(), 0, 'and nothing keeps the event loop turning');
});
