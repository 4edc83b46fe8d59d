import type { HttpResponse } from 'uWebSockets.js';
import { test } from 'tap';
import type { LateAnswer } from '../../../src/server/http/rest_exchange.js';
import { writeResponse } from '../../../src/server/uws/http.js';

test('a route hears that nobody waits for its late answer', async (t) => {
  let abort = () => {};
  let corked = 0;
  const res = {
    onAborted(callback: () => void) {
      abort = callback;
      return res;
    },
    cork() {
      corked++;
      return res;
    },
  } as unknown as HttpResponse;
  let abandoned = 0;
  let answer = (_: LateAnswer) => {};
  const later = new Promise<LateAnswer>((resolve) => {
    answer = resolve;
  });
  writeResponse(res, 'GET', {
    status: 200,
    headers: [],
    body: '',
    later,
    abandon: () => {
      abandoned++;
    },
  });
  t.equal(abandoned, 0);
  abort();
  t.equal(abandoned, 1);
  answer({ status: 499, headers: [], body: '' });
  await later;
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(corked, 0, 'nothing is written');
});
