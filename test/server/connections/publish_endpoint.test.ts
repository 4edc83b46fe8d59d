import { test } from 'tap';
import { UNLIMITED } from '../../../src/model/budget.js';
import type { PublishOutcome, PublishReceiver } from '../../../src/prices/publisher_session.js';
import { Token } from '../../../src/server/access/tokens.js';
import type { Connection, ConnectionEvents } from '../../../src/server/connections/connection.js';
import { publishEndpoints } from '../../../src/server/connections/publish_endpoint.js';
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
  const events = open(receiver, (reason) => t.fail(reason));
  for (const id of ['1', '2', '3'])
    events.text(`{"type":"signed_prices","trace_id":"${id}","data":{"A":{}}}`);
  // A message without prices does not reach the receiver.
  events.text('{"type":"signed_prices","trace_id":"none","data":{}}');
  events.closed();
  t.same(seen, ['1']);
  while (seen.length < 4) await new Promise((resolve) => setImmediate(resolve));
  t.same(seen, ['1', '2', '3', 'closed']);
});

/** Opens a publisher's connection. */
function open(receiver: PublishReceiver, onRefused: (reason: string) => void): ConnectionEvents {
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
    onMessage() {},
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
