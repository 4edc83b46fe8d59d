import { test } from 'tap';
import type { Finding } from '../../scripts/torture/check.js';
import { type Outcome, outcomesTable, summary, wholeRunMarkdown } from '../../scripts/torture/table.js';

const machine = { cpu: 'a CPU', cores: 2, memoryGiB: 4, os: 'an OS', node: 'v24', loadBefore: 0.5 };
const timing: Finding = {
  figure: '  a | b',
  value: 1234.5,
  unit: 'ms',
  mustBe: { atMost: 20 },
  isTiming: true,
};
const outcomes: readonly Outcome[] = [
  {
    check: 'flood',
    findings: [
      { figure: 'answered', value: 5000, unit: '', mustBe: { atLeast: 5000, atMost: 5000 } },
      timing,
    ],
    failed: true,
    seconds: 89.6,
  },
  { check: 'disk', findings: [], remark: 'skipped: no small file system', failed: false, seconds: 30.4 },
];

test('a whole run is a page with each figure, its bound and the verdict', async (t) => {
  const page = wholeRunMarkdown({
    outcomes,
    commit: '0123456789',
    machine,
    startedAt: '2026-11-27T10:30:59.000Z',
  });
  t.match(
    page,
    'Machine: a CPU, 2 cores, 4 GiB; an OS; Node v24. Load of other programs before the run: 0.5.',
  );
  t.match(page, 'Commit 0123456789, begun at 2026-11-27 10:30 UTC, 2 minutes. **Does not hold: flood.**');
  t.match(
    page,
    '\n## flood\n\n90 s\n\n| Figure | Measured | Must be | Reached |\n| --- | --- | --- | --- |\n',
  );
  t.match(page, '\n| answered | 5,000 | 5,000 | yes |\n');
  t.match(page, '\n| &nbsp;&nbsp;a \\| b | 1,230 ms | <= 20 | NO |\n');
  t.match(page, '\n## disk\n\n30 s, skipped: no small file system\n');
});

test('the console has the same figures, and a smoke run judges no times', async (t) => {
  t.match(outcomesTable(outcomes, 'full'), /^flood +answered +5,000 +5,000 +yes$/m);
  t.match(outcomesTable(outcomes, 'full'), /^flood {4}a \| b +1,230 ms +<= 20 +NO$/m);
  t.match(outcomesTable(outcomes, 'smoke'), /^flood {4}a \| b .* not judged$/m);
  t.match(outcomesTable(outcomes, 'full'), /^disk +skipped: no small file system$/m);
  t.equal(summary(outcomes), 'Does not hold: flood.');
  t.equal(summary(outcomes.slice(1)), 'Everything holds.');
});
