import { test } from 'tap';
import { MESSAGE_BYTES_MAX } from '../../../src/cluster/bus.js';
import { Forwarder } from '../../../src/cluster/publishers/forwarder.js';
import { Submissions } from '../../../src/cluster/publishers/submissions.js';
import type { ReadMessage } from '../../../src/prices/message.js';
import type { PublisherSession } from '../../../src/prices/publisher_session.js';
import { messageOf, RIGHTS } from '../simulation/sample.js';

// The simulation loses questions and answers of a forwarder.

test('a message that is too large for the way to the leader is refused at once', async (t) => {
  const { forwarder, leader, session, taken } = setUp();
  leader(1);
  const first = message(1);
  const large = { ...first.updates[0]!, metadata: 'x'.repeat(MESSAGE_BYTES_MAX / 20) };
  t.match(await forwarder.receive(session, { ...first, updates: Array(20).fill(large) }), {
    ok: false,
    traceId: '1',
    error: /takes 1044480 at most: send fewer updates in a message$/,
  });
  t.match(await forwarder.receive(session, message(2)), { ok: true, traceId: '2' }, 'the next one goes on');
  t.same(taken, ['2']);
});

test('without a leader messages wait, some and not for long', async (t) => {
  const { forwarder, leader, session, clock } = setUp();
  const waiting = Array.from({ length: 1_000 }, (_, n) => forwarder.receive(session, message(n)));
  t.match(forwarder.receive(session, message(9)), { ok: false, error: /too many messages/ });
  const durable = forwarder.receive({ ...session, isDurable: true, unsettled: [] }, message(1));
  clock.nowMs = 3_000;
  forwarder.tick(clock.nowMs);
  for (const outcome of await Promise.all(waiting)) t.match(outcome, { ok: false, error: /^no answer/ });
  leader(4);
  forwarder.tick(clock.nowMs);
  t.match(await durable, { ok: true, traceId: '1' }, 'what must be in the log waits for longer');
});

function setUp() {
  const clock = { nowMs: 0 };
  const taken: (string | undefined)[] = [];
  let epoch: number | undefined;
  let handle: (bytes: Uint8Array, topic: string) => Promise<Uint8Array> = async () => {
    throw new Error('no answer');
  };
  const forwarder = new Forwarder({
    bus: { ask: (topic, bytes) => handle(bytes, topic) },
    node: 3,
    secret: 'a',
    epoch: () => epoch,
    nameOf: () => ({ token: 'ab' }),
    nowMs: () => clock.nowMs,
  });
  /** Makes another node lead. */
  function leader(next: number): void {
    epoch = next;
    new Submissions({
      bus: {
        answer(_, handler) {
          handle = handler;
          return () => {};
        },
      },
      epoch: next,
      receiver: {
        async receive(_, { traceId }) {
          taken.push(traceId);
          return { ok: true, traceId, accepted: ['BTCUSD'], rejected: new Map() };
        },
      },
      rightsOf: () => RIGHTS,
    }).start();
  }
  const session: PublisherSession = { type: 'evm', rights: RIGHTS, isDurable: false, unsettled: [] };
  return { forwarder, leader, session, clock, taken };
}

function message(n: number): ReadMessage {
  return { ...messageOf({ asset: 1, value: n }), traceId: String(n) };
}
