import { test } from 'tap';
import { IdleTimeouts } from '../../../src/server/uws/idle_timeouts.js';

const READER = { idleTimeoutSeconds: 60, sendsPings: true, reportsSilence: false };
const PUBLISHER = { idleTimeoutSeconds: 960, sendsPings: false, reportsSilence: true };

function recordingHeart(path: typeof READER) {
  const calls: string[] = [];
  return {
    path,
    idlePlace: 0,
    seenAtS: 0,
    checksSincePing: 0,
    calls,
    ping: () => calls.push('ping'),
    silent: () => calls.push('silent'),
    heard: () => calls.push('heard'),
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

test('a publisher is pinged early and reported when it does not answer, once', async (t) => {
  let nowMs = 0;
  const idleTimeouts = new IdleTimeouts(() => nowMs);
  const connection = recordingHeart(PUBLISHER);
  idleTimeouts.add(connection);
  const pass = (untilMs: number) => {
    for (; nowMs < untilMs; nowMs += 2_000) idleTimeouts.check();
    return connection.calls.splice(0);
  };
  t.same(pass(6_000), ['ping']);
  idleTimeouts.received(connection);
  t.same(pass(10_000), [], 'it answered');
  t.same(pass(16_000), ['ping']);
  t.same(pass(18_000), ['silent']);
  t.same(pass(900_000), []);
  idleTimeouts.received(connection);
  t.same(pass(902_000), ['heard']);
  idleTimeouts.received(connection);
  t.same(pass(1_860_000), ['ping', 'silent']);
  t.same(pass(1_870_000).slice(0, 1), ['close 1008'], 'it has its own time');
});
