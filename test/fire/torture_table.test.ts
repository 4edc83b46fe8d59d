import { test } from 'tap';
import { count, exactly, timing } from '../../scripts/torture/check.js';
import { type Outcome, outcomesTable, summary } from '../../scripts/torture/table.js';

const outcomes: readonly Outcome[] = [
  {
    check: 'fair',
    findings: [
      count('answered', 5000, exactly(5000)),
      count('seen', 7),
      timing('  a | b', 1234.5, 'ms', { atMost: 20 }),
    ],
    failed: true,
  },
  {
    check: 'disk',
    findings: [],
    remark: 'skipped: no small file system',
    failed: false,
  },
];

test('each figure has its bound and the verdict, and a smoke run judges no times', async (t) => {
  t.match(outcomesTable(outcomes, 'full'), /^fair +answered +5,000 +5,000 +yes$/m);
  t.match(outcomesTable(outcomes, 'full'), /^fair +a \| b +1,230 ms +<= 20 +NO$/m);
  t.match(outcomesTable(outcomes, 'smoke'), /^fair +a \| b .* not judged$/m);
  t.match(outcomesTable(outcomes, 'full'), /^disk +skipped: no small file system$/m);
  t.equal(summary(outcomes), 'Does not hold: fair.');
  t.equal(summary(outcomes.slice(1)), 'Everything holds.');
});
