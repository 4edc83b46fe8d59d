import { test } from 'tap';
import { barSpacing } from '../../../src/client/page/bar_spacing.js';

test('few candles fill the chart, very few keep their shape, and many show the newest', async (t) => {
  t.equal(barSpacing(56, 840), 15);
  t.equal(barSpacing(3, 840), 24);
  t.equal(barSpacing(0, 840), 24);
  t.equal(barSpacing(5_000, 840), 8);
  t.equal(barSpacing(50, 0), 8, 'a chart that is not shown yet');
});
