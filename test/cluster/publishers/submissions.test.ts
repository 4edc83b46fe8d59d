import { test } from 'tap';
import { Submissions } from '../../../src/cluster/publishers/submissions.js';
import { decodeOutcome, encodeSubmit } from '../../../src/cluster/publishers/submit.js';

/** Accepts messages of session `s` from several nodes. */
function taking() {
  const taken: (string | undefined)[] = [];
  let handle: (bytes: Uint8Array, topic: string) => Promise<Uint8Array>;
  new Submissions({
    bus: {
      answer(_, handler) {
        handle = handler;
        return () => {};
      },
    },
    epoch: 7,
    receiver: {
      async receive(_, { traceId }) {
        taken.push(traceId);
        return { ok: true, traceId, accepted: ['BTCUSD'], rejected: new Map() };
      },
    },
    rightsOf: () => ({ identity: 'x', mayPublishAs: () => true, maySee: () => true }),
  }).start();
  const submit = async (node: number, number: number, traceId: string, session = 's') => {
    const message = { traceId, length: 10, content: '[[],[]]' };
    const rest = { again: false, durable: false, type: 'evm', caller: { token: 'ab' } } as const;
    const bytes = encodeSubmit({ session, number, oldest: number, message, ...rest });
    return decodeOutcome(await handle(bytes, `in.${node}.7`)).traceId;
  };
  return { taken, submit };
}

test('a node neither silences nor answers the session of another node', async (t) => {
  const { taken, submit } = taking();
  t.equal(await submit(4, 5, 'thief'), 'thief');
  t.equal(await submit(3, 1, 'honest 1'), 'honest 1');
  t.equal(await submit(3, 5, 'honest 5'), 'honest 5', 'and not the outcome of the thief');
  t.same(taken, ['thief', 'honest 1', 'honest 5']);
});

test('a node with many sessions displaces no session of another node', async (t) => {
  const { taken, submit } = taking();
  t.equal(await submit(3, 1, 'honest'), 'honest');
  for (let n = 0; n <= 20_000; n++) await submit(4, 1, 'thief', `s${n}`);
  taken.length = 0;
  t.equal(await submit(3, 1, 'again'), 'honest', 'the outcome is kept');
  t.same(taken, [], 'and the message takes effect once');
  await t.rejects(submit(64, 1, 'nobody'), /no node 64/);
});
