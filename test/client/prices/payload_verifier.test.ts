import { test } from 'tap';
import { NODE } from '../../../src/client/connect/node_platform.js';
import type { Platform, WorkerLike } from '../../../src/client/connect/platform.js';
import { FrameQueue } from '../../../src/client/prices/frame_queue.js';
import { PayloadVerifier } from '../../../src/client/prices/payload_verifier.js';
import { decodePayload, type Payload } from '../../../src/client/verify/decode_payload.js';
import { verifyPayload } from '../../../src/client/verify/verify_payload.js';
import type { PayloadToVerify, VerifiedPayload } from '../../../src/client/verify/verify_worker.js';

const SIGNER = '0xC4A02e7D370402F4afC36032076B05e74FF81786';
const PAYLOAD =
  '0x690a1cce3cf72e889b699ef800fb80ba47c123ce7422517bfcd2ce0c701423a12938fb6fcf4424c21e39688cd41dd8919b149642b590328ada7532c88b5f0d6b010001187f4dcc627041f8000100000000000000056bc75e2d63100000';

/** A worker that answers only when the test calls a method. */
class FakeWorker implements WorkerLike {
  onmessage: ((event: never) => void) | null = null;
  onerror: ((event: never) => void) | null = null;
  readonly asked: PayloadToVerify[] = [];
  isTerminated = false;

  postMessage(message: unknown): void {
    this.asked.push(message as PayloadToVerify);
  }

  terminate(): void {
    this.isTerminated = true;
  }

  say(data: VerifiedPayload | 'ready'): void {
    this.onmessage?.({ data } as never);
  }

  answer(): void {
    const { id, hex, signers } = this.asked.shift()!;
    this.say({ id, report: verifyPayload(hex, { signers }) });
  }
}

function platformOf(workers: FakeWorker[], clock: { nowMs: number }): Platform {
  return {
    ...NODE,
    nowMs: () => clock.nowMs,
    openWorker(url) {
      if (url === 'forbidden') throw new Error('the policy forbids it');
      workers.push(new FakeWorker());
      return workers.at(-1)!;
    },
  };
}

test('a worker starts above 20 payloads a second, and takes over once it is ready', async (t) => {
  const workers: FakeWorker[] = [];
  const clock = { nowMs: 0 };
  const verifier = new PayloadVerifier([SIGNER], platformOf(workers, clock), undefined);
  const verdicts: string[] = [];
  const verify = () => verifier.verify(PAYLOAD, ({ verdict }) => verdicts.push(verdict));
  for (let second = 0; second < 3; second += 1) {
    clock.nowMs = second * 1_000;
    for (let i = 0; i < 20; i += 1) verify();
  }
  t.equal(workers.length, 0, '20 a second are few');
  verify();
  t.equal(workers.length, 1);
  verify();
  t.equal(verdicts.length, 62, 'it is not ready yet');
  const [worker] = workers;
  worker!.say('ready');
  verify();
  t.equal(verdicts.length, 62);
  worker!.answer();
  t.equal(verdicts.length, 63);
  t.ok(verdicts.every((verdict) => verdict === 'verified'));
  verify();
  (worker!.onerror as () => void)();
  t.equal(verdicts.length, 64, 'what a failed worker had is verified inline');
  t.ok(worker!.isTerminated);
  for (let i = 0; i < 50; i += 1) verify();
  t.equal(verdicts.length, 114);
  t.equal(workers.length, 1, 'it is not started again');
});

test('without a worker payloads are verified inline', async (t) => {
  for (const worker of [false, 'forbidden'] as const) {
    const workers: FakeWorker[] = [];
    const verifier = new PayloadVerifier('unchecked', platformOf(workers, { nowMs: 0 }), worker);
    let verdicts = 0;
    for (let i = 0; i < 30; i += 1) verifier.verify(PAYLOAD, () => (verdicts += 1));
    t.equal(verdicts, 30);
    t.equal(workers.length, 0);
  }
});

function newQueue(keptChars = 0) {
  const dropped: string[] = [];
  const queue = new FrameQueue(keptChars, ({ hex }) => dropped.push(hex));
  const next = () => {
    const { hex, lostChars = 0 } = queue.shift() ?? {};
    return hex && (lostChars > 0 ? `(${lostChars} lost) ${hex}` : hex);
  };
  return {
    queue,
    dropped,
    push: (name: string, ...ids: number[]) =>
      queue.push({
        hex: name,
        payload: { assets: ids.map((id) => ({ id, value: 1n })) } as unknown as Payload,
      }),
    next,
    left() {
      const names: string[] = [];
      for (let one = next(); one !== undefined; one = next()) names.push(one);
      return names.join(' ');
    },
  };
}

test('payloads that wait are those with the newest price of some asset', async (t) => {
  const { queue, push, left, dropped } = newQueue();
  push('a', 1, 2);
  push('b', 2, 3);
  push('c', 1);
  t.equal(left(), '(1 lost) b c', 'a has no newest price any more');
  push('d', 1, 1, 1);
  push('e', 1);
  t.equal(left(), '(1 lost) e', 'an asset that a payload names twice counts once');
  push('f', 1);
  t.equal(queue.isEmpty, false);
  queue.clear();
  t.same(dropped, ['a', 'd', 'f'], 'each dropped payload is reported once');
  t.equal(left(), '');
  t.equal(queue.isEmpty, true);
  push('g', 1, 2);
  push('h', 1);
  push('i', 1);
  t.equal(left(), 'g (1 lost) i', 'the loss lies between the payloads around it');
  for (let i = 0; i < 1_000; i += 1) push(String(i), i % 5, (i + 1) % 5);
  t.ok(
    left()
      .replaceAll(/\(\d+ lost\) /g, '')
      .split(' ').length <= 5,
    'never more than assets',
  );
  t.notOk('check' in decodePayload(PAYLOAD));
});
