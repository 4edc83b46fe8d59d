import { test } from 'tap';
import { NODE } from '../../../src/client/connect/node_platform.js';
import type { Platform, WorkerLike } from '../../../src/client/connect/platform.js';
import { FrameQueue } from '../../../src/client/prices/frame_queue.js';
import { PayloadVerifier } from '../../../src/client/prices/payload_verifier.js';
import type { Payload } from '../../../src/client/verify/decode_payload.js';
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
    openWorker() {
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
});

function newQueue() {
  const dropped: string[] = [];
  const queue = new FrameQueue(0, ({ hex }) => dropped.push(hex));
  return {
    queue,
    dropped,
    push(name: string, ...ids: number[]) {
      const payload = { assets: ids.map((id) => ({ id, value: 1n })) } as unknown as Payload;
      queue.push({ hex: name, payload });
    },
    left() {
      const names: string[] = [];
      for (let one = queue.shift(); one !== undefined; one = queue.shift())
        names.push((one.lostChars ?? 0) > 0 ? `(${one.lostChars} lost) ${one.hex}` : one.hex);
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
  for (let i = 0; i < 1_000; i += 1) push(String(i), i % 5, (i + 1) % 5);
  t.ok(
    left()
      .replaceAll(/\(\d+ lost\) /g, '')
      .split(' ').length <= 5,
    'never more than assets',
  );
});
