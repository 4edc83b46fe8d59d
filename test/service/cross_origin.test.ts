import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { FakeClock } from '../clock/fake_clock.js';
import { THREAD_COUNTS } from '../tier.js';
import { sha256, startTestService, TOKEN } from './harness.js';
import { RawHttp, type RawResponse } from './raw_http.js';

// Tests of the requests that a browser makes when a page of another origin reads REST, and of their answers.

const ALLOWED = 'https://app.example';
/** The number of simultaneous requests that a token with one request per second may make. */
const BURST = 10;
const AUTHORIZATION = `Authorization: Basic ${TOKEN}`;
const PREFLIGHT = ['Access-Control-Request-Method: GET', 'Access-Control-Request-Headers: authorization'];

async function startWith(allowed_origins: readonly string[], threads = 1) {
  const tokens = [
    { name: 'all', sha256: sha256(TOKEN), scopes: ['rest'], requests_per_second: 1000 },
    { name: 'slow', sha256: sha256('slow'), scopes: ['rest'], requests_per_second: 1 },
  ];
  const clock = new FakeClock();
  const service = await startTestService(
    { listen: { port: 0, threads, allowed_origins }, tokens },
    { clock },
  );
  /** Makes a request on a separate connection. */
  const ask = async (line: string, headers: readonly string[]) => {
    const raw = await RawHttp.open(service.port);
    raw.request(line, headers);
    const response = await raw.response();
    raw.end();
    return response;
  };
  return { service, ask, clock };
}

/** Returns the headers of the answer that a browser reads for CORS, and the header `vary`. */
function crossOriginOf({ headers }: RawResponse): Record<string, string> {
  return Object.fromEntries(
    [...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'),
  );
}

const isOpen = (line: string) => /deployments|openapi/.test(line);

/** The header of every answer that is not a preflight's or an open path's. */
const VARIES = { vary: 'Authorization, Origin' };
const FOR_ALLOWED = {
  ...VARIES,
  'access-control-allow-origin': ALLOWED,
  'access-control-expose-headers':
    'RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, WWW-Authenticate, Allow, Link',
};

for (const threads of THREAD_COUNTS) {
  test(`a page of an allowed origin can read every answer, ${threads} threads`, async (t) => {
    const { service, ask, clock } = await startWith([ALLOWED], threads);
    t.teardown(() => service.stop());
    const cases: [status: number, line: string, headers: readonly string[]][] = [
      [200, 'GET /v1/prices/assets', [AUTHORIZATION]],
      [200, 'GET /v1/deployments/evm', []],
      [200, 'GET /udf/config', [AUTHORIZATION]],
      [200, 'GET /openapi.json', []],
      [400, 'GET /v1/prices/latest', [AUTHORIZATION]],
      [401, 'GET /v1/prices/assets', []],
      [401, 'GET /v1/registry/brokers', []],
      [404, 'GET /nope', [AUTHORIZATION]],
      [
        404,
        `GET /v1/prices/recent?assets=BTCUSD&timestamp=${clock.nowNs() / 1_000_000_000n}`,
        [AUTHORIZATION],
      ],
      [405, 'DELETE /v1/prices/assets', [AUTHORIZATION]],
      [405, 'HEAD /v1/prices/assets', [AUTHORIZATION]],
    ];
    for (const [status, line, headers] of cases) {
      const response = await ask(line, [`Origin: ${ALLOWED}`, ...headers]);
      t.equal(response.status, status, line);
      t.same(crossOriginOf(response), isOpen(line) ? { ...FOR_ALLOWED, vary: 'Origin' } : FOR_ALLOWED, line);
    }
    // The clock of a second thread does not stop. So only simultaneous requests exceed the token's limit on every machine,
    // even on a slow one.
    const slow = [`Origin: ${ALLOWED}`, 'Authorization: Basic slow'];
    const refused = await eventually(async () => {
      const answers = Array.from({ length: BURST }, () => ask('GET /v1/prices/assets', slow));
      return (await Promise.all(answers)).find(({ status }) => status === 429);
    });
    t.same(crossOriginOf(refused), FOR_ALLOWED);
    t.match(refused.headers.get('retry-after'), /^[1-9]\d*$/);
  });
}

test('a preflight of an allowed origin is answered for every path, without a body', async (t) => {
  const { service, ask } = await startWith([ALLOWED]);
  t.teardown(() => service.stop());
  for (const path of ['/v1/prices/assets', '/nope', '/v1/publisher/metadata']) {
    const response = await ask(`OPTIONS ${path}`, [`Origin: ${ALLOWED}`, ...PREFLIGHT]);
    t.equal(response.status, 204, path);
    t.equal(response.headers.has('content-length'), false);
    t.equal(response.headers.has('content-type'), false);
    t.same(crossOriginOf(response), {
      ...FOR_ALLOWED,
      vary: 'Origin',
      'access-control-allow-methods': 'GET',
      'access-control-allow-headers': 'Authorization',
      'access-control-max-age': '7200',
    });
  }
  const raw = await RawHttp.open(service.port);
  t.teardown(() => raw.end());
  raw.request('OPTIONS /v1/taxonomy', [`Origin: ${ALLOWED}`, ...PREFLIGHT]);
  raw.request('GET /v1/taxonomy', [`Origin: ${ALLOWED}`, AUTHORIZATION]);
  t.match(await raw.response(), { status: 204 });
  t.match(await raw.response(), { status: 200, body: /taxonomy_id/ }, 'the connection goes on');
});
