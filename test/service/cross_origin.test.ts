import { test } from 'tap';
import { startTestService, TOKEN } from './harness.js';
import { RawHttp } from './raw_http.js';

// Tests of the requests with which a browser asks whether a page of another origin may read REST. documents.test.ts tests the answers.

const ALLOWED = 'https://app.example';
const AUTHORIZATION = `Authorization: Basic ${TOKEN}`;
const PREFLIGHT = ['Access-Control-Request-Method: GET', 'Access-Control-Request-Headers: authorization'];

test('a preflight of an allowed origin is answered for every path, without a body', async (t) => {
  const service = await startTestService(t, { listen: { port: 0, allowed_origins: [ALLOWED] } });
  for (const path of ['/v1/prices/assets', '/nope', '/v1/publisher/metadata']) {
    const asked = await RawHttp.open(service.port);
    asked.request(`OPTIONS ${path}`, [`Origin: ${ALLOWED}`, ...PREFLIGHT]);
    const response = await asked.response();
    asked.end();
    t.equal(response.status, 204, path);
    t.equal(response.headers.has('content-length'), false);
    t.equal(response.headers.has('content-type'), false);
    t.same(
      Object.fromEntries([...response.headers].filter(([name]) => /^access-control-|^vary$/.test(name))),
      {
        'access-control-allow-origin': ALLOWED,
        'access-control-expose-headers':
          'RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, WWW-Authenticate, Allow, Link',
        vary: 'Origin',
        'access-control-allow-methods': 'GET',
        'access-control-allow-headers': 'Authorization, Last-Event-ID',
        'access-control-max-age': '7200',
      },
    );
  }
  const raw = await RawHttp.open(service.port);
  t.teardown(() => raw.end());
  raw.request('OPTIONS /v1/taxonomy', [`Origin: ${ALLOWED}`, ...PREFLIGHT]);
  raw.request('GET /v1/taxonomy', [`Origin: ${ALLOWED}`, AUTHORIZATION]);
  t.match(await raw.response(), { status: 204 });
  t.match(await raw.response(), { status: 200, body: /taxonomy_id/ }, 'the connection goes on');
});
