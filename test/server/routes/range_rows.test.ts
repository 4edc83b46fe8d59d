import { mock } from 'node:test';
import { test } from 'tap';
import type { LineEntry, PastEntry } from '../../../src/log/past/past_entry.js';
import { type RowBlocks, rowParts } from '../../../src/server/routes/range_rows.js';
import { rangeWriter } from '../../../src/server/routes/range_writer.js';
import { aggregatesOf, HOUR_START_NS, textOf } from '../../log/past/sample_past.js';

const BLOCK_ROWS = 60;
const LONG_MS = 60_000;

const ROWS = Array.from(aggregatesOf('BTCUSD', HOUR_START_NS, 3 * BLOCK_ROWS), (aggregate): LineEntry => {
  const { signedAtNs: timeNs } = aggregate;
  return { kind: 'priced', timeNs, isCarried: false, line: textOf(aggregate) };
});

/** Three blocks, and the number of times that the blocks began again in the middle. */
function threeBlocks() {
  let next = 0;
  const state = { repeated: 0 };
  function* entries(start: number, end: number): Iterable<PastEntry> {
    yield { kind: 'ended', timeNs: ROWS[start]!.timeNs, isCarried: false };
    yield* ROWS.slice(start, end);
  }
  const blocks: RowBlocks = {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const start = next;
        if (start >= ROWS.length) return { done: true, value: undefined };
        next = BLOCK_ROWS * (Math.floor(start / BLOCK_ROWS) + 1);
        const end = next;
        return { done: false, value: { entries: () => entries(start, end) } };
      },
    }),
    continueAt(fromNs) {
      next = ROWS.findIndex(({ timeNs }) => timeNs >= fromNs);
      if (next < 0) next = ROWS.length;
      state.repeated++;
    },
  };
  return { blocks, state };
}

test('an answer whose client pauses reads on from its last row, and repeats no row', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const read = async (pauseMs: number) => {
    const { blocks, state } = threeBlocks();
    const source = {
      blocks,
      everyNs: undefined,
      turn: <T>(work: () => Promise<T>) => work(),
      pay: async () => {},
    };
    let text = '';
    for await (const part of rowParts(source, rangeWriter('ndjson', 'whole', 'decimal'))) {
      t.ok(part.length < 48 * 1024, 'parts are short');
      text += Buffer.from(part).toString();
      mock.timers.tick(pauseMs);
    }
    return { text, ...state };
  };
  const quick = await read(0);
  const slow = await read(LONG_MS);
  t.equal(quick.text.split('\n').length - 1, ROWS.length);
  t.equal(quick.repeated, 0);
  t.ok(slow.repeated > 3, `blocks were read again ${slow.repeated} times`);
  t.equal(slow.text, quick.text);
});
