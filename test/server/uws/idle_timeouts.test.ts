import { test } from 'tap';
import { IdleTimeouts } from '../../../src/server/uws/idle_timeouts.js';

const READER = { idleTimeoutSeconds: 40 };
const PUBLISHER = { idleTimeoutSeconds: 960 };

function recordingSocket(path: typeof READER) {
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
  const idleTimeouts = new IdleTimeouts(() => nowMs, 30);
  const connection = recordingSocket(READER);
  idleTimeouts.add(connection);
  for (; nowMs < 20_000; nowMs += 1_000) idleTimeouts.check();
  t.same(connection.calls, []);
  for (; nowMs < 40_000; nowMs += 1_000) idleTimeouts.check();
  t.same(connection.calls, ['ping']);
  idleTimeouts.check();
  t.same(connection.calls, ['ping', 'close 1008']);
});

test('a peer that sends again stays, and is pinged again', async (t) => {
  let nowMs = 0;
  const idleTimeouts = new IdleTimeouts(() => nowMs, 30);
  const connection = recordingSocket(READER);
  idleTimeouts.add(connection);
  for (nowMs = 0; nowMs < 120_000; nowMs += 2_000) {
    idleTimeouts.check();
    if (nowMs % 30_000 === 0) idleTimeouts.received(connection);
  }
  t.same(connection.calls, ['ping', 'ping', 'ping', 'ping']);
  idleTimeouts.delete(connection);
  nowMs += 100_000;
  idleTimeouts.check();
  t.equal(connection.calls.length, 4, 'one that is gone is left alone');
});

test('a publisher is pinged after the ping interval, and stays for its own time without an answer', async (t) => {
  let nowMs = 0;
  const idleTimeouts = new IdleTimeouts(() => nowMs, 30);
  const connection = recordingSocket(PUBLISHER);
  idleTimeouts.add(connection);
  const pass = (untilMs: number) => {
    for (; nowMs < untilMs; nowMs += 1_000) idleTimeouts.check();
    return connection.calls.splice(0);
  };
  t.same(pass(30_000), []);
  t.same(pass(31_000), ['ping']);
  idleTimeouts.received(connection);
  t.same(pass(61_000), []);
  t.same(pass(991_000), ['ping']);
  t.same(pass(992_000), ['close 1008']);
});
