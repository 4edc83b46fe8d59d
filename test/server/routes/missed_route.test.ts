import { test } from 'tap';
import { LostRange } from '../../../src/log/past/lost_range.js';
import type { PastEntry } from '../../../src/log/past/past_entry.js';
import type { PastReader } from '../../../src/log/past/past_reader.js';
import type { AssetName } from '../../../src/model/asset_map.js';
import { rowsInOrder } from '../../../src/server/routes/missed_route.js';
import { evmName } from '../../log/past/sample_past.js';

/** A past with rows of these times, three in a block; a time below 0 is the beginning of a gap. */
function pastOf(times: Readonly<Record<string, readonly bigint[]>>): Pick<PastReader, 'blocks'> {
  const blocks = ({ symbol }: AssetName, { fromNs, toNs }: { fromNs: bigint; toNs: bigint }) => {
    const entries = times[symbol]!.map((ns): PastEntry => {
      const timeNs = ns < 0n ? -ns : ns;
      const line = `${symbol} ${timeNs}`;
      return ns < 0n
        ? { kind: 'gap', timeNs, isCarried: false }
        : { kind: 'priced', timeNs, isCarried: false, line };
    }).filter(({ timeNs }) => timeNs >= fromNs && timeNs < toNs);
    return (async function* () {
      for (let i = 0; i < entries.length; i += 3) yield { entries: () => entries.slice(i, i + 3) };
    })();
  };
  return { blocks } as unknown as Pick<PastReader, 'blocks'>;
}

const RANGE = { fromNs: 1n, toNs: 100n };

async function read(
  times: Readonly<Record<string, readonly bigint[]>>,
  rowsMax?: number,
): Promise<{ events: string[]; rounds: number }> {
  const names = Object.keys(times).map(evmName);
  const events: string[] = [];
  let rounds = 0;
  for await (const round of rowsInOrder(pastOf(times), names, RANGE, rowsMax)) {
    rounds++;
    events.push(...round.entries().map(({ line }) => line));
  }
  return { events, rounds };
}

test('the rows of several assets come once and in the order of their times', async (t) => {
  const times = {
    A: Array.from({ length: 40 }, (_, i) => BigInt(1 + 2 * i)),
    B: [5n, 50n, 99n],
    C: Array.from({ length: 30 }, (_, i) => BigInt(20 + i)),
  };
  const expected = Object.entries(times).flatMap(([symbol, all]) => all.map((ns) => `data: ${symbol} ${ns}`));
  for (const rowsMax of [3, 30, 1_000]) {
    const { events, rounds } = await read(times, rowsMax);
    const rows = events.map((event) => event.split('\n').at(-2)!);
    t.same(rows.toSorted(), expected.toSorted(), `${rowsMax} rows at once: each row once`);
    const order = rows.map((row) => BigInt(/ (\d+)$/.exec(row)![1]!));
    const ascending = order.toSorted((a, b) => Number(a - b));
    t.same(order, ascending, 'ascending');
    t.equal(rounds > 1, rowsMax < 73, `${rounds} rounds`);
  }
});

test('of rows with the same time only the last has the ID', async (t) => {
  const { events } = await read({ A: [1n, 7n], B: [7n], C: [7n, 8n] }, 3);
  t.same(
    events.map((event) => /^id: (\d+)$/m.exec(event)?.[1]),
    ['1', undefined, undefined, '7', '8'],
  );
});

test('a part that the past does not know is no silent gap', async (t) => {
  await t.rejects(read({ A: [1n, 2n, -3n, 9n] }), LostRange);
});
