import { test } from 'tap';
import { metricsText } from '../../src/model/text_format.js';

test('the values of labels are escaped', async (t) => {
  const metric = { name: 'some_bytes', type: 'gauge', help: 'Some.', labels: ['name'] } as const;
  t.equal(
    metricsText([{ ...metric, read: (value: number) => [['a"b\\c\nd', value]] }], 1),
    '# HELP some_bytes Some.\n# TYPE some_bytes gauge\nsome_bytes{name="a\\"b\\\\c\\nd"} 1\n',
  );
});
