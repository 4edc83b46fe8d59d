import { test } from 'tap';
import { Token } from '../../../src/server/access/tokens.js';
import { AnswerCache } from '../../../src/server/rest/answer_cache.js';
import type { Route } from '../../../src/server/rest/route.js';
import { sampleToken } from '../access/sample_tokens.js';

const route = {} as Route;

test('an answer is found again by the same token, route and query while it is true', async (t) => {
  const answers = new AnswerCache();
  const token = new Token(sampleToken('a', {}));
  let isCurrent = true;
  answers.keep(token, route, 'assets=A', { data: '{"A":"€"}', isCurrent: () => isCurrent });
  const found = answers.find(token, route, 'assets=A');
  t.equal(found?.body, '{"data":{"A":"€"}}');
  t.same(found?.encoded, Buffer.from('{"data":{"A":"€"}}'));
  t.equal(answers.find(token, route, 'assets=B'), undefined);
  t.equal(answers.find(new Token(sampleToken('b', {})), route, 'assets=A'), undefined);
  t.equal(answers.find(token, {} as Route, 'assets=A'), undefined, 'routes made anew know nothing');
  isCurrent = false;
  t.equal(answers.find(token, route, 'assets=A'), undefined);
});

test('the oldest answers make room', async (t) => {
  const answers = new AnswerCache();
  const token = new Token(sampleToken('a', {}));
  for (let i = 0; i < 65; i++) answers.keep(token, route, `${i}`, { data: `${i}`, isCurrent: () => true });
  t.equal(answers.find(token, route, '0'), undefined);
  t.equal(answers.find(token, route, '1')?.body, '{"data":1}');
  t.equal(answers.find(token, route, '64')?.body, '{"data":64}');
});
