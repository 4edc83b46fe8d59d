import type { HttpResponse } from 'uWebSockets.js';
import { test } from 'tap';
import { UnreadAnswers } from '../../../src/server/uws/unread_answers.js';

const BODY = Buffer.alloc(1024);
const LARGE = Buffer.alloc(16 * 1024);

/** Makes a response of a client that reads everything or nothing, and notes the calls that end the response. */
function fakeResponse(isRead: boolean) {
  const calls: string[] = [];
  const res = {
    end: () => calls.push('end'),
    tryEnd: () => {
      calls.push('tryEnd');
      return [isRead, isRead];
    },
    close: () => calls.push('close'),
    onAborted: (abort: () => void) => {
      fake.abort = abort;
    },
    onWritable: () => {},
  };
  const fake = { res: res as unknown as HttpResponse, calls, abort: () => {} };
  return fake;
}

/** Sends answers to clients that read. @returns the number of checked answers */
function checksOf(answers: UnreadAnswers, count: number, body: Uint8Array | string = BODY): number {
  let checks = 0;
  for (let i = 0; i < count; i++) {
    const { res, calls } = fakeResponse(true);
    answers.end(res, body, 'token a');
    if (calls.join() === 'tryEnd') checks++;
  }
  return checks;
}

test('small answers are checked at random, one in 64 KiB on average', async (t) => {
  const checks = checksOf(new UnreadAnswers(), 64_000);
  // The standard deviation of 1,000 checks is 32.
  t.ok(checks > 800 && checks < 1_200, `${checks} checks`);
  t.ok(checksOf(new UnreadAnswers(), 6_400, BODY.toString('latin1')) > 30, 'texts are checked too');
});

test('the bytes of the answers decide, and each large answer is checked', async (t) => {
  const answers = new UnreadAnswers(() => 1 - Math.exp(-1.001));
  t.equal(checksOf(answers, 1), 1, 'the first answer');
  t.equal(checksOf(answers, 64), 0);
  t.equal(checksOf(answers, 1), 1);
  t.equal(checksOf(answers, 10, LARGE), 10);
  t.equal(checksOf(answers, 64), 0);
  t.equal(checksOf(answers, 1), 1);
});

test('after a client that does not read, all answers are checked for 20 s', async (t) => {
  let nowMs = 0;
  const answers = new UnreadAnswers(
    () => 1 - Math.exp(-1.001),
    () => nowMs,
  );
  const unread = fakeResponse(false);
  answers.end(unread.res, BODY, 'token a');
  t.same(unread.calls, ['tryEnd']);
  t.equal(answers.bytes, BODY.length);
  nowMs = 19_999;
  t.equal(checksOf(answers, 100), 100);
  nowMs = 20_000;
  t.equal(checksOf(answers, 65), 1);
  unread.abort();
  t.equal(answers.bytes, 0);
});

test('a large answer that waits does not make small answers checked', async (t) => {
  const answers = new UnreadAnswers(() => 1 - Math.exp(-1.001));
  const unread = fakeResponse(false);
  answers.end(unread.res, LARGE, 'token a');
  t.equal(answers.bytes, LARGE.length);
  t.equal(checksOf(answers, 65), 1);
});
