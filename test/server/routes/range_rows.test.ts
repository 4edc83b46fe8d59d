import { mock } from 'node:test';
import { test } from 'tap';
import type { KeptEntry, PricedEntry } from '../../../src/past/kept_entry.js';
import { type RowBlocks, rowParts } from '../../../src/server/routes/range_rows.js';
import { rangeWriter } from '../../../src/server/routes/range_writer.js';
import { aggregatesOf, HOUR_START_NS } from '../../past/sample_past.js';

const BLOCK_ROWS = 60;
const LONG_MS = 60_000;
const SHOWN = { serviceName: 'tickseal', encodedAssetId: '0x1', version: 'v1', checksum: '0x2' };

const ROWS = Array.from(aggregatesOf('BTCUSD', HOUR_START_NS, 3 * BLOCK_ROWS), (aggregate): PricedEntry => {
  const { signedAtNs: timeNs } = aggregate;
  return {
    kind: 'priced',
    timeNs,
    isCarried: false,
    shown: SHOWN,
    hasInputs: true,
    aggregate,
  };
});

/** Three blocks, and the number of times that a block was repeated. */
function threeBlocks() {
  let block = 0;
  const state = { repeated: 0 };
  function* entries(start: number): Iterable<KeptEntry> {
    yield { kind: 'ended', timeNs: ROWS[start]!.timeNs, isCarried: false };
    yield* ROWS.slice(start, start + BLOCK_ROWS);
  }
  const blocks: RowBlocks = {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const start = BLOCK_ROWS * block++;
        if (start >= ROWS.length) return { done: true, value: undefined };
        return { done: false, value: { entries: () => entries(start) } };
      },
    }),
    repeat() {
      block--;
      state.repeated++;
    },
  };
  return { blocks, state };
}

test('an answer whose client pauses reads its block again, and repeats no row', async (t) => {
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
      t.ok(part.length <= 16 * 1024, 'parts are short');
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
