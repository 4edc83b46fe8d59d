import { brotliDecompressSync } from 'node:zlib';
import { test } from 'tap';
import { NS_PER_SECOND } from '../../../src/model/time.js';
import { RateLimiter } from '../../../src/server/access/rate_limit.js';
import type { RestRequest, RestResponse } from '../../../src/server/http/rest_exchange.js';
import { LIVE_PAGE, loadPages } from '../../../src/server/live_page/page_files.js';
import { createPage, pageHeaders } from '../../../src/server/live_page/serve_page.js';
import { FakeClock } from '../../clock/fake_clock.js';
import { sampleRequest } from '../access/sample_tokens.js';

const files = loadPages();
const livePage = loadPages([LIVE_PAGE]);
const script = [...files.keys()].find((path) => path.startsWith('/page/page-') && path.endsWith('.js'))!;

function ask(over: Partial<RestRequest>): RestResponse | undefined {
  return newPage().page(sampleRequest(over));
}

function newPage(operators: readonly string[] = [], token?: string) {
  const clock = new FakeClock();
  const limiter = new RateLimiter(clock);
  return {
    clock,
    page: createPage({ files, clientOf: ({ address }) => address, limiter, operators, token }),
  };
}

function headerOf(response: RestResponse | undefined, name: string): string | undefined {
  return response?.headers.find(([one]) => one === name)?.[1];
}

function bytesOf(response: RestResponse | undefined): Buffer {
  return Buffer.from(response?.body as Uint8Array);
}

test('the page and its files come with a strict policy', async (t) => {
  for (const path of ['/', script, '/docs/', '/docs/site.js']) {
    const response = ask({ path });
    t.equal(response?.status, 200);
    for (const [name, value] of Object.entries(pageHeaders([])))
      t.equal(headerOf(response, name), value, name);
  }
  t.notMatch(pageHeaders([])['Content-Security-Policy'], /unsafe|https?:|\*|data:|blob:/);
  t.equal(ask({ path: '/' })?.contentType, 'text/html; charset=utf-8');
  t.equal(ask({ path: script })?.contentType, 'text/javascript; charset=utf-8');
  const packed = ask({ path: script, acceptEncoding: 'gzip, br;q=0.8' });
  t.equal(headerOf(packed, 'Content-Encoding'), 'br');
  t.equal(headerOf(packed, 'Vary'), 'Accept-Encoding');
  t.ok(brotliDecompressSync(bytesOf(packed)).equals(bytesOf(ask({ path: script }))));
});

test('the page may connect to the operators that the configuration names, and to no other', async (t) => {
  const { page } = newPage(['https://b.example', 'http://127.0.0.1:8081']);
  const policy = headerOf(page(sampleRequest({ path: '/' })), 'Content-Security-Policy')!;
  const sources = "'self' https://b.example wss://b.example http://127.0.0.1:8081 ws://127.0.0.1:8081";
  t.equal(policy.replace(sources, "'self'"), pageHeaders([])['Content-Security-Policy']);
  t.match(policy, `connect-src ${sources};`);
});

test('everybody receives the public token, if the operator names one', async (t) => {
  const { page } = newPage([], 'public');
  const answer = page(sampleRequest({ path: '/page/token' }));
  t.match(answer, { status: 200, contentType: 'text/plain; charset=utf-8' });
  t.equal(bytesOf(answer).toString(), 'public');
  t.equal(headerOf(answer, 'Cache-Control'), 'no-cache');
  t.equal(ask({ path: '/page/token' }), undefined, 'other services have no such path');
});

test('a file never changes under its path; the page is asked for again, and answered briefly', async (t) => {
  t.equal(headerOf(ask({ path: script }), 'Cache-Control'), 'public, max-age=31536000, immutable');
  const first = ask({ path: '/' });
  t.equal(headerOf(first, 'Cache-Control'), 'no-cache');
  const etag = headerOf(first, 'ETag')!;
  for (const ifNoneMatch of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const again = ask({ path: '/', ifNoneMatch });
    t.match(again, { status: 304, body: '' }, ifNoneMatch);
    t.equal(headerOf(again, 'ETag'), etag);
  }
  for (const ifNoneMatch of ['"other"', etag.slice(1, -1), ''])
    t.equal(ask({ path: '/', ifNoneMatch })?.status, 200, ifNoneMatch);
});

test('other paths are not of the page, and other methods are refused', async (t) => {
  for (const path of ['/v1/taxonomy', '/page/', '/page/none.js', '/page/../page/'])
    t.equal(ask({ path }), undefined, path);
  t.equal(ask({ path: '/', hasBody: true }), undefined);
  t.equal(ask({ path: '/', fault: 'the Host header is repeated' }), undefined);
  t.equal(ask({ path: '/', method: 'HEAD' })?.status, 200);
  const refused = ask({ path: '/', method: 'POST' });
  t.equal(refused?.status, 405);
  t.equal(headerOf(refused, 'Allow'), 'GET, HEAD');
});

test('a client address opens ten tabs at once, and then has 25 requests a second', async (t) => {
  const { clock, page } = newPage();
  const askAll = (paths: readonly string[]) =>
    new Set(paths.map((path) => page(sampleRequest({ path }))?.status));
  for (let tab = 1; tab <= 10; tab++) t.same(askAll([...livePage.keys()]), new Set([200]), `tab ${tab}`);
  t.same(askAll(Array.from({ length: 250 - 10 * livePage.size }, () => '/')), new Set([200]));
  const refused = page(sampleRequest({ path: '/' }));
  t.equal(refused?.status, 429);
  t.equal(headerOf(refused, 'Retry-After'), '1');
  t.equal(page(sampleRequest({ path: '/', address: '127.0.0.2' }))?.status, 200);
  clock.advance(NS_PER_SECOND);
  t.same(askAll(Array.from({ length: 25 }, () => '/')), new Set([200]));
  t.equal(page(sampleRequest({ path: '/' }))?.status, 429);
});
