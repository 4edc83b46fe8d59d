import { test } from 'tap';
import { UNLIMITED } from '../../../src/model/budget.js';
import {
  type PublishOutcome,
  type PublishReceiver,
  TOO_MANY_WAIT,
} from '../../../src/prices/publisher_session.js';
import { Token } from '../../../src/server/access/tokens.js';
import type { Connection, ConnectionEvents } from '../../../src/server/connections/connection.js';
import {
  type PublishEndpointOptions,
  publishEndpoints,
} from '../../../src/server/connections/publish_endpoint.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { sampleToken } from '../access/sample_tokens.js';

test('what a connection sent before it closed is read, and only then it is told that it has closed', async (t) => {
  const seen: string[] = [];
  const receiver: PublishReceiver = {
    receive(_session, { traceId }): PublishOutcome {
      seen.push(traceId!);
      // The first message uses up the time of the turn, so the other messages wait to be read.
      const untilMs = performance.now() + (seen.length === 1 ? 5 : 0);
      while (performance.now() < untilMs);
      return { ok: true, traceId, accepted: [], rejected: new Map() };
    },
    closed() {
      seen.push('closed');
    },
  };
  const events = open(receiver, { onRefused: (reason) => t.fail(reason) });
  for (const id of ['1', '2', '3'])
    events.text(`{"type":"signed_prices","trace_id":"${id}","data":{"A":{}}}`);
  // A message without prices does not reach the receiver.
  events.text('{"type":"signed_prices","trace_id":"none","data":{}}');
  events.closed();
  t.same(seen, ['1']);
  while (seen.length < 4) await new Promise((resolve) => setImmediate(resolve));
  t.same(seen, ['1', '2', '3', 'closed']);
});

test('each message that is refused as a whole is counted once, by reason', async (t) => {
  const refused: { ok: false; traceId: undefined; error: string } = {
    ok: false,
    traceId: undefined,
    error: TOO_MANY_WAIT,
  };
  const outcomes = [
    refused,
    Promise.resolve(refused),
    { ...refused, error: 'accepted, but not on disk: why' },
  ];
  const reasons: string[] = [];
  let messages = 0;
  const events = open(
    { receive: () => outcomes.shift()! },
    {
      onRefused: (reason) => reasons.push(reason),
      onMessage: () => {
        messages++;
      },
    },
  );
  for (let i = 0; i < 3; i++) events.text('{"type":"signed_prices","data":{"A":{}}}');
  events.oversize(1_000_001);
  events.text('{ no JSON');
  for (let turn = 0; turn < 1_000 && reasons.length < 4; turn++)
    await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  t.same(reasons.sort(), [TOO_MANY_WAIT, TOO_MANY_WAIT, 'past publish_message_bytes', 'unreadable message']);
  t.equal(messages, 5);
});

/** Opens a publisher's connection. */
function open(
  receiver: PublishReceiver,
  {
    onRefused,
    onMessage = () => {},
  }: Pick<PublishEndpointOptions, 'onRefused'> & Partial<PublishEndpointOptions>,
): ConnectionEvents {
  const [evm] = publishEndpoints({
    receiver,
    clock: new FakeClock(),
    budgets: { of: () => ({ publishBytes: UNLIMITED, badMessages: UNLIMITED }) } as never,
    publishBytesPerSecondMax: 1_000_000,
    controlMessagesPerSecondMax: 10,
    badMessagesPerSecondMax: 10,
    messageBytesMax: 1_000_000,
    updatesPerMessageMax: 10,
    traceIdLengthMax: 256,
    onMessage,
    onRefused,
    onReplyDropped() {},
    onFault: (_path, error) => {
      throw error;
    },
  });
  const opened = evm!.accept(new Map() as never, new Token(sampleToken('alice')) as never);
  if (typeof opened !== 'function') throw new Error('refused');
  return opened({ send() {}, close() {} } as unknown as Connection);
}
