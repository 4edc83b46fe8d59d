import { test } from 'tap';
import { Harness, SIGNED_REAL_TIME } from './harness.js';

const BINARY = { ...SIGNED_REAL_TIME, binary: true };

test('readers of binary and JSON frames have groups and times of their own', async (t) => {
  const harness = new Harness();
  const [json, binary] = [harness.connect(SIGNED_REAL_TIME), harness.connect(BINARY)];
  harness.price(3, 5n);
  for (const client of [json, binary]) client.subscribe(3);
  harness.advanceMs(5);
  t.same([json.news(), binary.news()], [['3=5'], ['3=5']]);
  t.equal(binary.binaryFrames, 1, 'the first frame, for this connection alone, is binary');
  t.equal(json.binaryFrames, 0);
  harness.price(3, 6n);
  harness.advanceMs(5);
  t.equal(harness.engine.groupCount, 2);
  t.same([json.last?.prices, binary.last?.prices], [new Map([[3, 6n]]), new Map([[3, 6n]])]);
  t.not(json.last?.ts, binary.last?.ts);
});
