import { test } from 'tap';
import { count, exactly, timing } from '../../scripts/torture/check.js';
import { type Outcome, outcomesTable, summary, wholeRunMarkdown } from '../../scripts/torture/table.js';

const machine = { cpu: 'a CPU', cores: 2, memoryGiB: 4, os: 'an OS', node: 'v24', loadBefore: 0.5 };
const outcomes: readonly Outcome[] = [
  {
    check: 'fair',
    title: 'one token uses all that it may',
    findings: [
      count('answered', 5000, exactly(5000)),
      count('seen', 7),
      timing('  a | b', 1234.5, 'ms', { atMost: 20 }),
    ],
    failed: true,
    seconds: 89.6,
  },
  {
    check: 'disk',
    title: 'a full disk',
    findings: [],
    remark: 'skipped: no small file system',
    failed: false,
    seconds: 30.4,
  },
];

test('a whole run is a page with each figure that has a bound, and the verdict', async (t) => {
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
  t.match(page, 'Commit 0123456789, begun at 2026-11-27 10:30 UTC, 2 minutes. **Does not hold: fair.**');
  t.match(
    page,
    '\n| `fair` | one token uses all that it may | answered: 5,000 (5,000); **a \\| b: 1,230 ms (<= 20)** | **no** |\n',
  );
  t.match(page, '\n| `disk` | a full disk | skipped: no small file system | yes |\n');
});

test('the console has the same figures, and a smoke run judges no times', async (t) => {
  t.match(outcomesTable(outcomes, 'full'), /^fair +answered +5,000 +5,000 +yes$/m);
  t.match(outcomesTable(outcomes, 'full'), /^fair +a \| b +1,230 ms +<= 20 +NO$/m);
  t.match(outcomesTable(outcomes, 'smoke'), /^fair +a \| b .* not judged$/m);
  t.match(outcomesTable(outcomes, 'full'), /^disk +skipped: no small file system$/m);
  t.equal(summary(outcomes), 'Does not hold: fair.');
  t.equal(summary(outcomes.slice(1)), 'Everything holds.');
});
