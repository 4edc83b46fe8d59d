import { test } from 'tap';
import type { PastEntry } from '../../../src/log/past/past_entry.js';
import type { PastReader } from '../../../src/log/past/past_reader.js';
import { rangePage } from '../../../src/server/routes/range_page.js';
import { evmName } from '../../log/past/sample_past.js';

const ROWS = 100;
const BLOCK_ROWS = 10;

/** A past with a row in each nanosecond. Reading a block takes `blockMs` of a simulated clock. */
function slowPast(blockMs: number) {
  let nowMs = 0;
  const entriesOf = (times: readonly bigint[]) =>
    times.map((timeNs) => ({ kind: 'priced', timeNs }) as PastEntry);
  const past = {
    gapAt: async () => undefined,
    blocks(_name: unknown, { fromNs }: { fromNs: bigint }) {
      let next = Number(fromNs);
      return {
        async nextFew() {
          nowMs += blockMs;
          const times = Array.from({ length: Math.min(BLOCK_ROWS, ROWS - next) }, (_, i) => BigInt(next + i));
          next += times.length;
          return times.length === 0 ? [] : [{ bareEntries: () => entriesOf(times) }];
        },
      };
    },
  };
  const pageAt = (fromNs: bigint, everyNs?: bigint) =>
    rangePage(
      past as unknown as Pick<PastReader, 'blocks' | 'gapAt'>,
      {
        name: evmName('BTCUSD'),
        range: { fromNs, toNs: 100n },
        everyNs,
        rowsMax: 1_000,
        withInputs: false,
        isTyped: false,
      },
      (work) => work(),
      () => nowMs,
    );
  return async (everyNs?: bigint) => {
    const pages: (readonly [rows: number, toNs: bigint])[] = [];
    for (let fromNs: bigint | undefined = 0n; fromNs !== undefined; ) {
      const page = await pageAt(fromNs, everyNs);
      pages.push([page.rows, page.toNs]);
      fromNs = page.nextNs;
    }
    return pages;
  };
}

test('a page ends before its reader gives up, and the next page has the next rows', async (t) => {
  t.same(await slowPast(1)(), [[100, 100n]]);
  t.same(await slowPast(501)(), [
    [40, 40n],
    [40, 80n],
    [20, 100n],
  ]);
  t.same(
    await slowPast(10_000)(),
    Array.from({ length: 10 }, (_, i) => [10, BigInt(10 * i + 10)]),
    'each page has rows, however slow the past is',
  );
  t.same(
    await slowPast(10_000)(25n),
    [25n, 50n, 75n, 100n].map((endNs) => [1, endNs]),
    'a page ends at the end of an interval',
  );
});
