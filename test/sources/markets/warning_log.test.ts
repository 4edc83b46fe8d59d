import { test } from 'tap';
import { WarningLog } from '../../../src/sources/markets/warning_log.js';

test('the same warning is shown once a minute, as one short line without control characters', async (t) => {
  const shown: string[] = [];
  const clock = { nowMs: 0 };
  const log = new WarningLog(
    (text) => shown.push(text),
    () => clock.nowMs,
  );
  for (const nowMs of [0, 1, 59_999, 60_000]) {
    clock.nowMs = nowMs;
    log.add('a');
  }
  t.same(shown.splice(0), ['a', 'a (2 more times since it was last shown)']);
  log.add('refused: \x1b[2J\x9b31m\r\nsources: kraken: fine\u2028\u202ex');
  log.add('x'.repeat(1_000_000));
  t.same(shown, ['refused:  [2J 31m sources: kraken: fine x', 'x'.repeat(400)]);
});
