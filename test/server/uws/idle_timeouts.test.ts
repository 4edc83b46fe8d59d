import { test } from 'tap';
import { IdleTimeouts } from '../../../src/server/uws/idle_timeouts.js';

const READER = { idleTimeoutSeconds: 60, sendsPings: true };
const PUBLISHER = { idleTimeoutSeconds: 960, sendsPings: false };

function recordingHeart(path: typeof READER) {
  const calls: string[] = [];
  return {
    path,
    idlePlace: 0,
    seenAtS: 0,
    isPinged: false,
    calls,
    ping: () => calls.push('ping'),
    close: (code: number) => calls.push(`close ${code}`),
  };
}

test('a reader is pinged once from half of the time on and closed when the time is over', async (t) => {
  let nowMs = 0;
  const idleTimeouts = new IdleTimeouts(() => nowMs);
  const connection = recordingHeart(READER);
  idleTimeouts.add(connection);
  for (nowMs = 0; nowMs < 60_000; nowMs += 2_000) idleTimeouts.check();
  t.same(connection.calls, ['ping']);
  idleTimeouts.check();
  t.same(connection.calls, ['ping', 'close 1008']);
});

test('who is heard stays, and is pinged anew', async (t) => {
  let nowMs = 0;
  const idleTimeouts = new IdleTimeouts(() => nowMs);
  const connection = recordingHeart(READER);
  idleTimeouts.add(connection);
  for (nowMs = 0; nowMs < 200_000; nowMs += 2_000) {
    idleTimeouts.check();
    if (nowMs % 50_000 === 0) idleTimeouts.received(connection);
  }
  t.same(connection.calls, ['ping', 'ping', 'ping', 'ping']);
  idleTimeouts.delete(connection);
  nowMs += 100_000;
  idleTimeouts.check();
  t.equal(connection.calls.length, 4, 'one that is gone is left alone');
});

test('a publisher is never pinged and has its own time', async (t) => {
  let nowMs = 0;
  const idleTimeouts = new IdleTimeouts(() => nowMs);
  const connection = recordingHeart(PUBLISHER);
  idleTimeouts.add(connection);
  for (nowMs = 0; nowMs < 960_000; nowMs += 2_000) idleTimeouts.check();
  t.same(connection.calls, []);
  idleTimeouts.check();
  t.same(connection.calls, ['close 1008']);
});
