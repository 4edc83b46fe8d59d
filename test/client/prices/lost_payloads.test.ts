import { test } from 'tap';
import { LONG_BACKLOG_CHARS, LostPayloads } from '../../../src/client/prices/lost_payloads.js';

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

test('the service may leave out payloads at the end of a long backlog', async (t) => {
  for (const chars of [LONG_BACKLOG_CHARS / 2, LONG_BACKLOG_CHARS / 2 - 1]) {
    const isLong = chars * 2 >= LONG_BACKLOG_CHARS;
    const { lost, passed } = newConnection();
    passed(100, 101, 0);
    passed(200, 4_000, chars);
    t.equal(passed(300, 4_000, chars), false, 'the backlog goes on');
    t.equal(passed(3_990, 4_001), isLong, 'made when the backlog began to move');
    t.equal(passed(4_100, 4_101), false);
    t.equal(passed(4_200, 4_900), false);
    t.equal(passed(4_890, 4_901), false, 'another backlog, a short one');
    passed(4_950, 4_951, 0);
    lost(2 * chars);
    t.equal(passed(5_000, 9_000, 0), true);
    t.equal(passed(8_999, 9_001), isLong, 'dropped payloads belong to the backlog');
  }
});
