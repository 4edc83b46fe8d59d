import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { test } from 'tap';
import { MESSAGE_BYTES_MAX } from '../../../src/cluster/bus.js';
import { Forwarder } from '../../../src/cluster/publishers/forwarder.js';
import { Submissions } from '../../../src/cluster/publishers/submissions.js';
import {
  decodeOutcome,
  decodeSubmit,
  encodeOutcome,
  encodeSubmit,
} from '../../../src/cluster/publishers/submit.js';
import { UnreadableMessage } from '../../../src/cluster/unreadable.js';
import type { RawUpdate, ReadMessage } from '../../../src/prices/message.js';
import type { PublisherSession, PublishOutcome } from '../../../src/prices/publisher_session.js';
import { holds } from '../../holds.js';
import { cases } from '../../tier.js';
import { damaged } from '../damaged.js';

const UPDATE: RawUpdate = {
  symbol: 'BTCUSD',
  assetId: '0x01',
  publisherKey: '0x02',
  externalAssetId: 'BTC',
  signatureType: 'evm',
  price: '1',
  timestamp: '2',
  r: '0x03',
  s: '0x04',
  v: undefined,
  msgHash: '0x05',
  metadata: undefined,
};
const RIGHTS = { identity: 'alice', mayPublishAs: () => true, maySee: () => true };

test('a message that is too large for the way to the leader is refused at once', async (t) => {
  const { forwarder, leader, session, sent } = setUp();
  const taken = leader(1);
  const updates = Array.from({ length: 20 }, () => ({
    ...UPDATE,
    metadata: 'x'.repeat(MESSAGE_BYTES_MAX / 20),
  }));
  const refused = await forwarder.receive(session, { ...message(1), updates });
  t.match(refused, {
    ok: false,
    traceId: '1',
    error: /takes 1044480 at most: send fewer updates in a message$/,
  });
  t.equal(tracesOf(await forwarder.receive(session, message(2))), '2 ok', 'the next one goes on');
  t.same([taken, sent.length], [['2'], 1]);
});

test('whatever is lost, each message is taken once and in order', async (t) => {
  const losses = fc.array(fc.constantFrom('none', 'question', 'answer'), { minLength: 30, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(losses, async (fates) => {
      const { forwarder, leader, session, clock, state } = setUp();
      const taken = leader(1);
      state.fates = [...fates];
      const outcomes: (PublishOutcome | Promise<PublishOutcome>)[] = [];
      for (let n = 1; n <= 8; n++) {
        outcomes.push(forwarder.receive(session, message(n)));
        clock.nowMs += 20;
        forwarder.tick(clock.nowMs);
        await turns();
      }
      for (let i = 0; i < 20; i++) {
        clock.nowMs += 100;
        forwarder.tick(clock.nowMs);
        await turns();
      }
      t.same(
        taken.map((text) => text.split(' ')[0]),
        ['1', '2', '3', '4', '5', '6', '7', '8'],
      );
      t.same(
        (await Promise.all(outcomes)).map(tracesOf),
        [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `${n} ok`),
      );
    }),
    { numRuns: cases(200) },
  );
});

test('without a leader messages wait, some and not for long', async (t) => {
  const { forwarder, session, durableSession, clock, leader } = setUp();
  const waiting = Array.from({ length: 1_000 }, (_, n) => forwarder.receive(session, message(n)));
  t.match(forwarder.receive(session, message(9)), { ok: false, error: /too many messages/ });
  const durable = forwarder.receive(durableSession, message(1));
  clock.nowMs = 3_000;
  forwarder.tick(clock.nowMs);
  for (const outcome of await Promise.all(waiting)) t.match(outcome, { ok: false, error: /^no answer/ });
  leader(4);
  forwarder.tick(clock.nowMs);
  t.same(tracesOf(await durable), '1 ok', 'what must be in the log waits for longer');
});

test('messages and answers are read as they were written, and damaged ones do no harm', async (t) => {
  const submit = {
    session: 'a/1',
    number: 4,
    oldest: 3,
    again: true,
    durable: true,
    type: 'stark',
    caller: { signatureType: 'stark', key: new Uint8Array(32).fill(7) },
    message: { traceId: 'x', length: 12, content: '[[],[]]' },
  } as const;
  t.same(decodeSubmit(encodeSubmit(submit)), submit);
  const named = { ...submit, caller: { token: 'ab' }, message: { ...submit.message, traceId: undefined } };
  t.same(decodeSubmit(encodeSubmit(named)), named);
  const outcomes: PublishOutcome[] = [
    { ok: true, traceId: undefined, accepted: ['BTCUSD'], rejected: new Map([['ETHUSD', 'unknown asset']]) },
    { ok: false, traceId: 'x', error: 'no' },
  ];
  for (const outcome of outcomes) t.same(decodeOutcome(encodeOutcome(outcome)), outcome);
  const kinds = [
    { bytes: encodeSubmit(submit), read: decodeSubmit },
    ...outcomes.map((outcome) => ({ bytes: encodeOutcome(outcome), read: decodeOutcome })),
  ];
  for (const { bytes, read } of kinds)
    holds(
      t,
      fc.property(damaged(bytes), (hostile) => {
        try {
          read(hostile);
        } catch (error) {
          assert.ok(error instanceof UnreadableMessage);
        }
      }),
      { numRuns: 1_000 },
    );
});

function setUp() {
  const clock = { nowMs: 0 };
  const state = { fates: [] as string[] };
  let epoch: number | undefined;
  const sent: Uint8Array[] = [];
  const handlers = new Map<string, (bytes: Uint8Array, topic: string) => Promise<Uint8Array>>();
  const forwarder = new Forwarder({
    bus: {
      async ask(topic, bytes) {
        sent.push(bytes);
        const handler = handlers.get(topic.replace('in.3.', 'in.*.'));
        const fate = state.fates.shift();
        if (handler === undefined || fate === 'question') throw new Error('no answer');
        const answer = await handler(bytes, topic);
        if (fate === 'answer') throw new Error('no answer');
        return answer;
      },
    },
    node: 3,
    secret: 'a',
    epoch: () => epoch,
    nameOf: () => ({ token: 'ab' }),
    nowMs: () => clock.nowMs,
  });
  /** Makes another node lead. @returns the messages that the new leader receives */
  function leader(next: number): string[] {
    epoch = next;
    handlers.clear();
    const taken: string[] = [];
    new Submissions({
      bus: {
        answer(topic, handler) {
          handlers.set(topic, handler);
          return () => handlers.delete(topic);
        },
      },
      epoch: next,
      receiver: {
        async receive(_, { traceId, again }) {
          taken.push(again ? `${traceId} again` : traceId!);
          return { ok: true, traceId, accepted: ['BTCUSD'], rejected: new Map() };
        },
      },
      rightsOf: () => RIGHTS,
    }).start();
    return taken;
  }
  const session: PublisherSession = { type: 'evm', rights: RIGHTS, isDurable: false, unsettled: [] };
  const durableSession: PublisherSession = { ...session, isDurable: true };
  return { forwarder, leader, session, durableSession, clock, state, sent };
}

function message(n: number): ReadMessage {
  return { ok: true, traceId: String(n), updates: [], malformed: new Map(), length: 10 };
}

function tracesOf(outcome: PublishOutcome): string {
  return `${outcome.traceId} ${outcome.ok ? 'ok' : outcome.error}`;
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await undefined;
}
