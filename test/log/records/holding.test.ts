import { test } from 'tap';
import {
  decodeHolding,
  encodeHolding,
  type Holding,
  pricedHolding,
} from '../../../src/log/records/holding.js';
import type { TimeNs } from '../../../src/model/time.js';
import { aggregateOf, HOUR_START_NS, inputOf, textOf } from '../past/sample_past.js';

const SYMBOL = 'BTCUSD';
const MINUTE = { minute: 7, open: 1.5, high: 2.5e21, low: -0.5, close: 1e-7 };
const INPUTS = [0, 1, 2].map((publisher) => inputOf(SYMBOL, publisher, HOUR_START_NS));
const AGGREGATE = aggregateOf(SYMBOL, HOUR_START_NS, INPUTS);
const LINE = textOf(AGGREGATE);

test('a record of a holding is one line of JSON that reads back', async (t) => {
  const holdings: Holding[] = [
    pricedHolding(LINE, HOUR_START_NS, MINUTE),
    pricedHolding(LINE, 0n as TimeNs, undefined),
    { state: 'ended', timeNs: HOUR_START_NS, minute: MINUTE },
    { state: 'gap', timeNs: (2n ** 63n - 1n) as TimeNs, minute: undefined },
  ];
  for (const holding of holdings) {
    const bytes = encodeHolding(holding);
    const text = bytes.toString();
    t.notOk(text.includes('\n'));
    t.equal(JSON.parse(text).at, String(holding.timeNs));
    const read = decodeHolding(bytes);
    t.same({ ...read }, { ...holding });
    t.equal(read.line, holding.line, 'the very line');
    t.same(encodeHolding(read), bytes);
    t.same(read.aggregate, holding.state === 'priced' ? AGGREGATE : undefined);
  }
});

test('bytes that are not a record do not open', async (t) => {
  const bytes = encodeHolding(pricedHolding(LINE, HOUR_START_NS, MINUTE));
  for (let length = 0; length < bytes.length; length++) {
    const cut = bytes.subarray(0, length);
    t.throws(() => decodeHolding(cut).aggregate?.inputs, RangeError, `the first ${length} bytes`);
  }
  const wrong = ['{"at":"1","state":"priced"}', '{"at":"-1","state":"ended"}', '{"at":"1","aggregate":"x"}'];
  for (const text of [...wrong, '{"at":"9223372036854775808","state":"ended"}'])
    t.throws(() => decodeHolding(Buffer.from(text)), RangeError, text);
});
