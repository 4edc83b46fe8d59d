import { test } from 'tap';
import { metricText } from '../../src/metrics/text_format.js';

test('the values of labels are escaped', async (t) => {
  const labels = { name: 'a"b\\c\nd' };
  t.equal(
    metricText('some_bytes', 'gauge', 'Some.', [{ labels, value: 1 }]),
    '# HELP some_bytes Some.\n# TYPE some_bytes gauge\nsome_bytes{name="a\\"b\\\\c\\nd"} 1\n',
  );
});
