import { test } from 'tap';
import { LostPayloads } from '../../../src/client/prices/lost_payloads.js';

/** Makes a connection on which a test receives payloads. All times are in milliseconds of the service's clock. */
function newConnection() {
  const losses = new LostPayloads();
  return {
    lost: (chars?: number) => losses.lost(chars),
    passed: (madeMs: number, nowMs: number, chars = 200) =>
      losses.passed(BigInt(madeMs) * 1_000_000n, nowMs, chars),
  };
}

test('a loss of the client is reported once, with the next payload', async (t) => {
  const { lost, passed } = newConnection();
  t.equal(passed(100, 101), false, 'the first payload follows nothing');
  lost();
  lost(200);
  t.equal(passed(200, 201), true);
  t.equal(passed(300, 301), false);
  t.equal(passed(2_000, 2_001), false, 'a pause is no loss');
});
