import { test } from 'tap';
import { z } from 'zod';
import { UNLIMITED } from '../../../src/model/budget.js';
import { RateLimiter } from '../../../src/server/access/rate_limit.js';
import { TokenDirectory } from '../../../src/server/access/tokens.js';
import type { RestRequest } from '../../../src/server/http/rest_exchange.js';
import { CachedAnswers } from '../../../src/server/rest/answer_cache.js';
import { RestApi } from '../../../src/server/rest/rest_api.js';
import { openRoute, type Route, tokenRoute } from '../../../src/server/rest/route.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { sampleLogins, sampleRequest, sampleToken } from '../access/sample_tokens.js';

const MIB = 1024 * 1024;
const text = z.string();
const NONE = { status: 404, error: 'there is none' } as const;
const word = { description: 'Any', required: false, schema: text };
const routes = new Map<string, Route>([
  [
    '/who',
    tokenRoute({
      summary: 'The caller',
      parameters: { word },
      response: text,
      handle: ({ word }, token) => ({ data: JSON.stringify([token.name, word]) }),
    }),
  ],
  [
    '/large',
    tokenRoute({
      summary: 'A large answer that stays true',
      parameters: { word, other: word },
      response: text,
      handle: ({ word }) => ({ data: JSON.stringify(`${word}${'x'.repeat(MIB)}`), isCurrent: () => true }),
    }),
  ],
  ['/open', openRoute({ summary: 'All', response: text, handle: () => ({ data: '1' }) })],
  ['/raw', openRoute({ summary: 'Raw', response: text, raw: 'text/plain', handle: () => ({ data: 'x' }) })],
  ['/none', tokenRoute({ summary: 'None', response: text, handle: () => NONE })],
  [
    '/bug',
    tokenRoute({
      summary: 'A bug',
      response: text,
      handle() {
        throw new Error('secret');
      },
    }),
  ],
]);

function newRest() {
  const faults: unknown[] = [];
  const answers = new CachedAnswers();
  const clock = new FakeClock();
  const rest = new RestApi({
    routes: () => routes,
    logins: sampleLogins(
      new TokenDirectory([
        sampleToken('alice'),
        sampleToken('quick', { requestsPerSecond: 50 }),
        sampleToken('streamer', { scopes: new Set(['stream']) }),
      ]),
    ),
    clientOf: ({ address }) => address,
    limiter: new RateLimiter(clock),
    rangeRowsOf: () => UNLIMITED,
    clock,
    answers,
    requestsPerSecond: 5,
    onFault: (path, error) => faults.push([path, (error as Error).message]),
  });
  const get = (path: string, overrides: Partial<RestRequest> = {}) => {
    const response = rest.answer(sampleRequest({ path, authorization: ['Basic alice'], ...overrides }));
    return { ...response, body: String(response.body), headers: Object.fromEntries(response.headers) };
  };
  return { get, faults, clock, answers };
}

test('a result is wrapped in data, a raw one is not, an error in error', async (t) => {
  const { get } = newRest();
  t.match(get('/who', { query: 'word=a%20b' }), { status: 200, body: '{"data":["alice","a b"]}' });
  t.match(get('/raw'), { status: 200, body: 'x', contentType: 'text/plain' });
  t.match(get('/none'), { status: 404, body: '{"error":"there is none"}' });
});

test('what is wrong with a request itself has its status before anything else', async (t) => {
  const { get } = newRest();
  t.match(get('/nowhere'), { status: 404, body: '{"error":"no such path: /docs/ lists all paths"}' });
  t.match(get('/who/'), { status: 404 });
  for (const method of ['post', 'HEAD', 'OPTIONS', 'delete']) {
    const response = get('/who', { method, authorization: [] });
    t.equal(response.status, 405);
    t.same(response.headers, { Allow: 'GET' });
  }
  t.equal(get('/who', { method: 'GET' }).status, 200);
  t.match(get('/nowhere', { hasBody: true }), { status: 400, closeConnection: true });
  t.match(get('/who', { query: 'a=1&a=2' }), { status: 400, body: '{"error":"a is given more than once"}' });
});

test('a request without a valid token gets 401 with WWW-Authenticate, one without the right 403', async (t) => {
  const { get } = newRest();
  const missing = get('/who', { authorization: [] });
  t.equal(missing.status, 401);
  t.same(missing.headers, { 'WWW-Authenticate': 'Basic realm="tickseal"' });
  t.equal(get('/who', { authorization: ['Basic alice', 'Basic alice'] }).status, 401);
  const streamer = get('/who', { authorization: ['Basic streamer'] });
  t.equal(streamer.status, 403);
  t.same(streamer.headers, {});
  t.equal(get('/open', { authorization: ['nonsense'] }).status, 200);
});

test('every limited response says what is left, errors too', async (t) => {
  const { get, clock } = newRest();
  const limits = (remaining: number) => ({
    'RateLimit-Limit': '5',
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': '1',
  });
  t.same(get('/who').headers, limits(4));
  t.same(get('/none').headers, limits(3));
  t.same(get('/who', { query: 'a=%' }).headers, limits(2));
  t.same(get('/bug').headers, limits(1));
  t.same(get('/who').headers, limits(0));
  const refused = get('/who');
  t.equal(refused.status, 429);
  t.equal(refused.body, '{"error":"too many requests"}');
  t.same(refused.headers, { ...limits(0), 'Retry-After': '1' });
  t.equal(get('/who', { authorization: ['Basic quick'] }).headers['RateLimit-Remaining'], '49');
  clock.advance(200_000_000n);
  t.equal(get('/who').status, 200);
});

test('open routes count per address, not per token', async (t) => {
  const { get } = newRest();
  for (let i = 0; i < 5; i++) t.equal(get('/open').status, 200);
  t.equal(get('/open', { authorization: ['Basic quick'] }).status, 429);
  t.equal(get('/open', { address: '127.0.0.2' }).status, 200);
  t.equal(get('/who').headers['RateLimit-Remaining'], '4');
});

test('an answer is kept once for a token, whatever else stands in the query', async (t) => {
  const { get, clock, answers } = newRest();
  for (let i = 0; i < 8; i++) {
    clock.advance(1_000_000_000n);
    const query = [`n=${i}&word=a`, `word=%61&n=${i}`, `word=a&n${i}`, `&word=a&&x${i}=`][i % 4]!;
    t.match(get('/large', { query }), { status: 200, body: /^\{"data":"ax/ });
    t.ok(answers.texts.bytes < 2 * MIB, `${answers.texts.bytes} bytes`);
  }
  for (const [query, name] of [
    ['word=b', 'alice'],
    ['other=a', 'alice'],
    ['word=a', 'quick'],
  ] as const) {
    const { bytes } = answers.texts;
    get('/large', { query, authorization: [`Basic ${name}`] });
    t.ok(answers.texts.bytes > bytes, `${query} of ${name} is another question`);
  }
});

test('a bug in a route is 500, told to the operator and not to the client', async (t) => {
  const { get, faults } = newRest();
  t.match(get('/bug'), { status: 500, body: '{"error":"internal error"}' });
  t.same(faults, [['/bug', 'secret']]);
});
