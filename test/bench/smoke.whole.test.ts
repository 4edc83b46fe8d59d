import { test } from 'tap';
import { judge } from '../../bench/harness/outcome.js';
import { rowPage } from '../../bench/harness/page.js';
import { runRounds } from '../../bench/harness/rounds.js';
import type { Measurement, Row } from '../../bench/harness/row.js';
import { ROWS, rowByName } from '../../bench/rows/index.js';

// Runs the smallest part of each row. The test checks that each row runs and gives all of its figures. The values of the
// figures have no meaning, because other tests and rows run at the same time.

const AT_ONCE_MAX = 3;

/**
 * Variants that the test skips, each with the variant that runs instead. The row `threads` runs the loads of other rows again.
 */
const REPLACED: ReadonlyMap<string, string> = new Map([
  ['2 threads', '1 thread'],
  ['take-over, two threads', 'take-over'],
]);
// Each run removes its folder when its process ends. All runs of this test share a process, so the process has many
// listeners.
process.setMaxListeners(50);

test('every row measures what its table shows', { skip: needsLinux() }, async (t) => {
  const waiting = ROWS.flatMap((row) =>
    Object.keys(row.variants)
      .filter((variant) => !REPLACED.has(variant))
      .map((variant) => ({ row, variant })),
  );
  const measured = new Map<Row, Record<string, Measurement[]>>(ROWS.map((row) => [row, {}]));
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift())
      measured.get(next.row)![next.variant] = [await next.row.variants[next.variant]!('smoke')];
  };
  await Promise.all(Array.from({ length: AT_ONCE_MAX }, work));
  for (const [row, measurements] of measured) {
    for (const [variant, other] of REPLACED)
      if (variant in row.variants) measurements[variant] = measurements[other]!;
    const outcome = judge(row, 'smoke', measurements);
    t.same(outcome.differingHashes, [], `${row.name}: ours and the peers make the same bytes`);
    const expected = row.lines('smoke').filter(({ variant }) => !measurements[variant]![0]!.missing);
    t.equal(outcome.lines.length, expected.length, `${row.name}: there are figures`);
    t.match(rowPage(outcome).join('\n'), row.title, `${row.name}: there is a table`);
  }
});

test('a round runs in a process of its own, in turns', async (t) => {
  const runs: string[] = [];
  const row = { ...rowByName('signed-frames'), rounds: 1 };
  const measured = await runRounds(row, 'smoke', (variant) => runs.push(variant));
  t.same(runs, Object.keys(row.variants));
  t.equal(judge(row, 'smoke', measured).lines.length, row.lines('smoke').length);
});

test('a row that is not there is named', async (t) => {
  t.throws(() => rowByName('fan-in'), { message: /no row "fan-in": there are evm-ingest, / });
});

/**
 * Returns the reason to skip a test on systems other than Linux, because CPU time and memory of the servers are read from
 * `/proc`.
 */
function needsLinux(): string | false {
  return process.platform === 'linux' ? false : 'load runs read /proc';
}
