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
    unfinished: () => calls.push('unfinished'),
    resumed: () => calls.push('resumed'),
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

test('a peer that sends again stays, and is pinged again', async (t) => {
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

test('a publisher is pinged at once and after a silence, and reported when it does not answer', async (t) => {
  let nowMs = 0;
  const idleTimeouts = new IdleTimeouts(() => nowMs);
  const connection = recordingHeart(PUBLISHER);
  idleTimeouts.add(connection);
  const pass = (untilMs: number) => {
    for (; nowMs < untilMs; nowMs += 1_000) idleTimeouts.check();
    return connection.calls.splice(0);
  };
  t.same(pass(1_000), ['ping']);
  idleTimeouts.received(connection);
  t.same(pass(4_000), [], 'it answered');
  t.same(pass(5_000), ['ping']);
  t.same(pass(6_000), []);
  t.same(pass(7_000), ['silent']);
  t.same(
    pass(10_000).filter((call) => call === 'unfinished'),
    ['unfinished', 'unfinished'],
  );
  idleTimeouts.received(connection);
  t.same(pass(13_000), ['resumed']);
  idleTimeouts.received(connection);
  const calls = pass(1_000_000);
  t.same(calls.slice(0, 2), ['ping', 'silent']);
  t.same(calls.slice(-1), ['close 1008'], 'it has its own time');
});

test('a message that is not finished is reported within ten seconds', async (t) => {
  for (const startMs of [0, 1, 500, 999]) {
    let nowMs = startMs;
    const idleTimeouts = new IdleTimeouts(() => nowMs);
    const connection = recordingHeart(PUBLISHER);
    idleTimeouts.add(connection);
    for (nowMs = 999; nowMs < startMs + 10_000; nowMs += 1_000) idleTimeouts.check();
    t.ok(connection.calls.includes('unfinished'), `begun at ${startMs}`);
  }
});

test('a silent connection that has sent nothing since it opened is not reported', async (t) => {
  let nowMs = 0;
  let hasOnlyOpened: boolean | undefined = true;
  const silence = { hasOnlyOpened: () => hasOnlyOpened, findAll: () => {} };
  const idleTimeouts = new IdleTimeouts(() => nowMs, silence);
  const connection = recordingHeart(PUBLISHER);
  idleTimeouts.add(connection);
  const pass = (untilMs: number) => {
    for (; nowMs < untilMs; nowMs += 1_000) idleTimeouts.check();
    return connection.calls.splice(0);
  };
  t.same(pass(100_000), ['ping']);
  hasOnlyOpened = false;
  t.same(pass(101_000), ['silent', 'unfinished'], 'it began a message');
  hasOnlyOpened = undefined;
  t.same(pass(102_000), ['silent', 'unfinished'], 'it may have begun one');
});
