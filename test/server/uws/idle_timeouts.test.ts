import { test } from 'tap';
import { IdleTimeouts } from '../../../src/server/uws/idle_timeouts.js';

const READER = { idleTimeoutSeconds: 40 };
const PUBLISHER = { idleTimeoutSeconds: 960 };

/** Adds a connection whose calls are noted. */
function connect(path: typeof READER) {
  const calls: string[] = [];
  let nowMs = 0;
  const idleTimeouts = new IdleTimeouts(() => nowMs, 30);
  const ping = () => calls.push('ping');
  const close = (code: number) => calls.push(`close ${code}`);
  const socket = { path, idlePlace: 0, seenAtS: 0, isPinged: false, ping, close };
  idleTimeouts.add(socket);
  return {
    received: () => idleTimeouts.received(socket),
    delete: () => idleTimeouts.delete(socket),
    /** Checks every second until before a time, and returns the calls. */
    pass(untilMs: number): string[] {
      for (; nowMs < untilMs; nowMs += 1_000) idleTimeouts.check();
      return calls.splice(0);
    },
  };
}

test('a reader is pinged once from half of the time on and closed when the time is over', async (t) => {
  const reader = connect(READER);
  t.same(reader.pass(20_000), []);
  t.same(reader.pass(40_000), ['ping']);
  t.same(reader.pass(41_000), ['close 1008']);
});

test('a peer that sends again stays, and is pinged again', async (t) => {
  const reader = connect(READER);
  for (const untilMs of [30_000, 60_000, 90_000]) {
    t.same(reader.pass(untilMs), ['ping']);
    reader.received();
  }
  reader.delete();
  t.same(reader.pass(190_000), [], 'one that is gone is left alone');
});

test('a publisher is pinged after the ping interval, and stays for its own time without an answer', async (t) => {
  const publisher = connect(PUBLISHER);
  t.same(publisher.pass(30_000), []);
  t.same(publisher.pass(31_000), ['ping']);
  publisher.received();
  t.same(publisher.pass(61_000), []);
  t.same(publisher.pass(991_000), ['ping']);
  t.same(publisher.pass(992_000), ['close 1008']);
});
