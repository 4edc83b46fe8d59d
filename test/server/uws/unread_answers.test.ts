import type { HttpResponse } from 'uWebSockets.js';
import { test } from 'tap';
import { UNREAD_ANSWER_BYTES_MAX, UnreadAnswers } from '../../../src/server/uws/unread_answers.js';

const MIB = Buffer.alloc(1024 * 1024);

/** Makes a response of a client that reads nothing, and notes the calls that end the response. */
function unreadResponse() {
  const calls: string[] = [];
  const res = {
    tryEnd: () => [false, false],
    close: () => calls.push('close'),
    onAborted: (abort: () => void) => {
      fake.abort = abort;
    },
    onWritable: () => {},
  };
  const fake = { res: res as unknown as HttpResponse, calls, abort: () => {} };
  return fake;
}

test('answers that nobody reads take 32 MiB at most, and half of what is free for one caller', async (t) => {
  const answers = new UnreadAnswers();
  let closed = 0;
  let open: (() => void) | undefined;
  for (let i = 0; i < 2_000; i++) {
    const unread = unreadResponse();
    answers.end(unread.res, MIB, `token ${i % 8}`);
    if (unread.calls.includes('close')) closed++;
    else open = unread.abort;
    if (answers.bytes > UNREAD_ANSWER_BYTES_MAX) break;
  }
  t.equal(UNREAD_ANSWER_BYTES_MAX, 32 * 1024 * 1024);
  t.ok(answers.bytes <= UNREAD_ANSWER_BYTES_MAX, `${answers.bytes} bytes`);
  t.ok(answers.bytes > UNREAD_ANSWER_BYTES_MAX / 2, 'most of the room is in use');
  t.ok(closed > 1_900, `${closed} connections were ended`);
  const before = answers.bytes;
  open!();
  t.equal(answers.bytes, before - MIB.length, 'a client that leaves makes room');

  const single = new UnreadAnswers();
  for (let i = 0; i < 64; i++) single.end(unreadResponse().res, MIB, 'token a');
  t.ok(single.bytes <= UNREAD_ANSWER_BYTES_MAX / 2 + MIB.length, `${single.bytes} bytes of one caller`);
});
