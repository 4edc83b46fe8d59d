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
  const heart = recordingHeart(READER);
  idleTimeouts.add(heart);
  for (nowMs = 0; nowMs < 60_000; nowMs += 2_000) idleTimeouts.beat();
  t.same(heart.calls, ['ping']);
  idleTimeouts.beat();
  t.same(heart.calls, ['ping', 'close 1008']);
});

test('who is heard stays, and is pinged anew', async (t) => {
  let nowMs = 0;
  const idleTimeouts = new IdleTimeouts(() => nowMs);
  const heart = recordingHeart(READER);
  idleTimeouts.add(heart);
  for (nowMs = 0; nowMs < 200_000; nowMs += 2_000) {
    idleTimeouts.beat();
    if (nowMs % 50_000 === 0) idleTimeouts.hear(heart);
  }
  t.same(heart.calls, ['ping', 'ping', 'ping', 'ping']);
  idleTimeouts.delete(heart);
  nowMs += 100_000;
  idleTimeouts.beat();
  t.equal(heart.calls.length, 4, 'one that is gone is left alone');
});

test('a publisher is never pinged and has its own time', async (t) => {
  let nowMs = 0;
  const idleTimeouts = new IdleTimeouts(() => nowMs);
  const heart = recordingHeart(PUBLISHER);
  idleTimeouts.add(heart);
  for (nowMs = 0; nowMs < 960_000; nowMs += 2_000) idleTimeouts.beat();
  t.same(heart.calls, []);
  idleTimeouts.beat();
  t.same(heart.calls, ['close 1008']);
});
