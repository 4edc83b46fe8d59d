import { request } from 'node:http';
import { test } from 'tap';
import { THREAD_COUNTS } from '../tier.js';
import { startTestService } from './harness.js';

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: number;
}

/** Sends a request. Unlike `fetch`, does not decode the answer. */
function ask(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, headers }, (response) => {
      let bytes = 0;
      response.on('data', (part: Buffer) => {
        bytes += part.length;
      });
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, bytes }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

for (const threads of THREAD_COUNTS) {
  test(`the live page is served without a token, on ${threads} threads`, async (t) => {
    const service = await startTestService({ listen: { port: 0, threads } });
    t.teardown(() => service.stop());
    const page = await ask(`${service.url}/`);
    t.match(page, {
      status: 200,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': /^default-src 'none'/,
        'cache-control': 'no-cache',
      },
    });
    const short = await ask(`${service.url}/`, { 'Accept-Encoding': 'br' });
    t.match(short, { status: 200, headers: { 'content-encoding': 'br' } });
    t.ok(short.bytes < page.bytes / 2);
    const again = await ask(`${service.url}/`, { 'If-None-Match': String(page.headers['etag']) });
    t.match(again, { status: 304, bytes: 0 });
    t.notOk('content-length' in again.headers, 'an answer without a body tells no length of one');
    const head = await ask(`${service.url}/`, {}, 'HEAD');
    t.match(head, { status: 200, bytes: 0, headers: { 'content-length': String(page.bytes) } });
    t.match(await ask(`${service.url}/`, {}, 'PUT'), { status: 405, headers: { allow: 'GET, HEAD' } });
    t.equal((await ask(`${service.url}/page/none.js`)).status, 404);
  });
}
