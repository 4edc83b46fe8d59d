import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { judge } from '../../bench/harness/outcome.js';
import { resultsPage, rowPage } from '../../bench/harness/page.js';
import { keepRow } from '../../bench/harness/results.js';
import type { Measurement, Row } from '../../bench/harness/row.js';
import { fittedExponent, median, percentile } from '../../scripts/load/statistics.js';

const row: Row = {
  name: 'sample',
  title: 'Sample',
  method: 'None.',
  rounds: 3,
  variants: {},
  lines: () => [
    {
      name: 'rate',
      unit: 'things/s',
      variant: 'ours',
      figure: 'rate',
      bound: { atLeast: 10 },
      peers: [{ variant: 'peer', figure: 'rate', ratio: { atMost: 3 } }],
    },
  ],
};

test('a row is judged by the medians of its rounds', async (t) => {
  const outcome = judge(row, 'full', { ours: rates(11, 1_000, 12), peer: rates(4, 4, 0) });
  t.match(outcome.lines[0], { ours: 12, reached: true, peers: [{ value: 4, ratio: 3, reached: true }] });
  t.ok(outcome.reached);
});

test('one bound that does not hold is a row that misses', async (t) => {
  t.notOk(judge(row, 'full', { ours: rates(9), peer: rates(9) }).reached, 'the bound of ours');
  t.notOk(judge(row, 'full', { ours: rates(31), peer: rates(10) }).reached, 'the bound of the ratio');
});

test('a row is a table with each bound and verdict', async (t) => {
  const page = rowPage(judge(row, 'full', { ours: rates(40), peer: rates(10) })).join('\n');
  t.match(page, '| rate | 40 things/s | | | ≥ 10 | yes |\n| | | peer: 10 | 4 | ≤ 3 | **no** |');
});

test('a peer that this machine does not have is named, and not judged', async (t) => {
  const outcome = judge(row, 'full', {
    ours: rates(12),
    peer: [{ figures: {}, missing: 'it needs a compiler' }],
  });
  t.ok(outcome.reached);
  t.same(outcome.lines[0]!.peers, []);
  t.same(outcome.missing, ['peer: it needs a compiler']);
  t.match(rowPage(outcome).join('\n'), 'Not on this machine: peer: it needs a compiler.');
  t.notOk(judge(row, 'full', { ours: rates(9), peer: rates(4) }).missing);
});

test('variants that made other bytes are a row that misses', async (t) => {
  const outcome = judge(row, 'full', { ours: rates(12, 12), peer: withHash(rates(12), 'other') });
  t.ok(outcome.reached, 'one hash alone is compared with nothing');
  const differing = judge(row, 'full', {
    ours: withHash(rates(12), 'one'),
    peer: withHash(rates(12), 'other'),
  });
  t.same(differing.differingHashes, ['frame']);
  t.notOk(differing.reached);
});

test('a new measurement replaces the one of its row, and rows that are gone leave the file and the page', async (t) => {
  const file = join(t.testdir({}), 'results.json');
  const machine = { cpu: 'a', cores: 2, memoryGiB: 1, os: 'b', node: 'v20', loadBefore: 0 };
  const outcome = judge(row, 'full', { ours: rates(12.345_678), peer: rates(10) });
  const measured = (name: string, commit: string) => {
    return { ...outcome, name, machine, commit, measuredAt: '2026-01-01T00:00:00.000Z', seconds: 1 };
  };
  keepRow(file, measured('gone', 'a'), ['gone']);
  keepRow(file, measured('second', 'a'), ['first', 'gone', 'second']);
  keepRow(file, measured('first', 'b'), ['first', 'second']);
  const results = keepRow(file, measured('second', 'c'), ['first', 'second']);
  t.same(
    results.rows.map(({ name, commit }) => [name, commit]),
    [
      ['first', 'b'],
      ['second', 'c'],
    ],
  );
  t.match(readFileSync(file, 'utf8'), /"rate": \[12\.346\]/);
  t.match(resultsPage(results), 'Machine 1: a, 2 cores, 1 GiB; b; Node v20.');
  t.match(resultsPage(results), '| [second](#second) | yes | 20 | c | 2026-01-01 00:00 | 1 s | 1 |');
});

test('medians and percentiles', async (t) => {
  t.equal(median([3, 1, 2]), 2);
  t.equal(median([4, 1, 3, 2]), 2.5);
  t.equal(percentile([5, 1, 4, 2, 3], 50), 3);
  t.equal(percentile([1, 2, 3, 4], 99), 4);
  t.ok(Number.isNaN(percentile([], 50)));
});

function rates(...values: number[]): Measurement[] {
  return values.map((rate) => ({ figures: { rate } }));
}

function withHash(measurements: readonly Measurement[], frame: string): Measurement[] {
  return measurements.map((measurement) => ({ ...measurement, hashes: { frame } }));
}

test('the exponent of a growing cost', async (t) => {
  t.equal(fittedExponent([10, 100, 1_000], [1, 100, 10_000]).toFixed(6), '2.000000');
  t.equal(
    fittedExponent([1, 10, 100], [1, 100, 100]).toFixed(6),
    '1.000000',
    'the line lies between the points',
  );
});
