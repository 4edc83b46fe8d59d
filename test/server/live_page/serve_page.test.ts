import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { test } from 'tap';
import { NS_PER_SECOND } from '../../../src/model/time.js';
import { RateLimiter } from '../../../src/server/access/rate_limit.js';
import type { RestRequest, RestResponse } from '../../../src/server/http/rest_exchange.js';
import { LIVE_PAGE, loadPages, SITE } from '../../../src/server/live_page/page_files.js';
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
});

test('the page may connect to the operators that the configuration names, and to no other', async (t) => {
  const { page } = newPage(['https://b.example', 'http://127.0.0.1:8081']);
  const policy = headerOf(page(sampleRequest({ path: '/' })), 'Content-Security-Policy')!;
  t.ok(
    policy
      .split('; ')
      .includes(
        "connect-src 'self' https://b.example wss://b.example http://127.0.0.1:8081 ws://127.0.0.1:8081",
      ),
  );
  t.equal(
    policy.replace(/connect-src [^;]*/, "connect-src 'self'"),
    pageHeaders([])['Content-Security-Policy'],
  );
});

test('everybody receives the public token, if the operator names one', async (t) => {
  const { page } = newPage([], 'public');
  const answer = page(sampleRequest({ path: '/page/token' }));
  t.match(answer, { status: 200, contentType: 'text/plain; charset=utf-8' });
  t.equal(bytesOf(answer).toString(), 'public');
  t.equal(headerOf(answer, 'Cache-Control'), 'no-cache');
  t.equal(ask({ path: '/page/token' }), undefined, 'other services have no such path');
});

test('the page names only files that are served, and holds no script or style of its own', async (t) => {
  const html = bytesOf(ask({ path: '/' })).toString();
  const named = [...html.matchAll(/(?:src|href)="(\/page\/[^"]*)"/g)].map(([, path]) => path!);
  t.ok(named.length >= 4);
  for (const path of named) t.ok(files.has(path), path);
  t.notMatch(html, /<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|href="[^"/#h]/);
});

test('contents come in the encoding that the client likes best', async (t) => {
  const plain = bytesOf(ask({ path: script }));
  const cases = [
    ['br, gzip', 'br'],
    ['gzip, deflate, br;q=0.8', 'br'],
    ['gzip;q=1.0, br;q=0', 'gzip'],
    ['GZIP', 'gzip'],
    ['br;q=0.000', undefined],
    ['zstd', undefined],
    ['', undefined],
  ] as const;
  for (const [acceptEncoding, encoding] of cases) {
    const response = ask({ path: script, acceptEncoding });
    t.equal(headerOf(response, 'Content-Encoding'), encoding, acceptEncoding);
    t.equal(headerOf(response, 'Vary'), 'Accept-Encoding');
    const body = bytesOf(response);
    const decoded =
      encoding === 'br' ? brotliDecompressSync(body) : encoding === 'gzip' ? gunzipSync(body) : body;
    t.ok(decoded.equals(plain));
  }
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
  for (const path of [
    '/v1/taxonomy',
    '/page/',
    '/page/none.js',
    '/page',
    '/index.html',
    '/page/../page/',
    '/docs/none.html',
  ])
    t.equal(ask({ path }), undefined, path);
  t.equal(ask({ path: '/', hasBody: true }), undefined);
  t.equal(ask({ path: '/', fault: 'the Host header is repeated' }), undefined);
  t.equal(ask({ path: '/', method: 'HEAD' })?.status, 200);
  const refused = ask({ path: '/', method: 'POST' });
  t.equal(refused?.status, 405);
  t.equal(headerOf(refused, 'Allow'), 'GET, HEAD');
});

test('paths of earlier versions lead to the documents', async (t) => {
  for (const [path, target] of [
    ['/docs', '/docs/'],
    ['/docs/client', '/docs/client_functions.html'],
  ] as const) {
    const response = ask({ path });
    t.equal(response?.status, 301);
    const location = headerOf(response, 'Location')!;
    t.equal(new URL(location, `http://a${path}`).pathname, target);
    t.ok(files.has(target));
  }
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

test('without a built page there are no files', async (t) => {
  const folder = new URL(`file://${t.testdir({})}/`);
  t.equal(loadPages([{ ...SITE, folder }]).size, 0);
});
