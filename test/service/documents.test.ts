import { test } from 'tap';
import { pause } from '../../scripts/load/wait.js';
import { bodyOf, routesOf } from '../../scripts/site/described_routes.js';
import type { OpenApiDocument } from '../../src/server/documents/openapi.js';
import { checkerOf, follow } from '../server/documents/checker.js';
import { Feed, units } from './feed.js';
import { get, namedToken, publisherSigner, startTestService, TOKEN } from './harness.js';
import { loginHeaders } from './login_headers.js';
import { publish } from './publishing.js';

// Tests that all answers of REST agree with the documents that a service serves.

const NARROW = 'narrow-token';
const SLOW = 'slow-token';
const NO_REST = 'stream-token';
/** The origin of a page that may read REST. Each request is one of this page. */
const PAGE = 'https://app.example';
/** The time after which an address without a token may make another request. */
const REFILL_MS = 300;
const routes = routesOf('service');
const openApi = JSON.parse(bodyOf(routes, '/openapi.json')) as OpenApiDocument;

const SECTIONS = {
  listen: { allowed_origins: [PAGE] },
  tokens: [
    namedToken(TOKEN),
    namedToken(NARROW, { scopes: ['rest'], assets: ['AAPL'] }),
    namedToken(SLOW, { scopes: ['rest'], requests_per_second: 1 }),
    namedToken(NO_REST, { scopes: ['stream'] }),
  ],
  assets: [
    { id: 1, symbol: 'BTCUSD' },
    { id: 2, symbol: 'DYDXUSD', signature_type: 'stark' },
    { id: 3, symbol: 'AAPL', calendar: 'us_equities' },
  ],
  pushed_assets: { ethereum: { mainnet: { BTCUSD: { delta: 0.5, staleness: 3600 } } } },
};

test('a running service says what its documents say', async (t) => {
  const service = await startTestService(t, SECTIONS);
  const check = checkerOf(openApi);
  const answered = new Set<string>();

  /** Makes a request as a browser does for the page. */
  const send = (target: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
    fetch(service.url + target, { ...init, headers: { Origin: PAGE, ...headers } });

  /** Makes a request, and checks the status, content type, headers and body of the answer. @returns the body */
  async function expectOf(status: number, target: string, headers: Record<string, string>, method = 'GET') {
    const response = await send(target, headers, { method });
    const path = target.replace(/\?.*/, '');
    const body = await response.text();
    t.equal(response.status, status, `${target} ${body.slice(0, 200)}`);
    const documented = openApi.paths[path]?.[method === 'GET' ? 'get' : 'post']?.responses[status];
    t.ok(documented, `${path} documents ${status}`);
    checkResponse(response, body, '$ref' in documented! ? follow(openApi, documented.$ref) : documented);
    if (status === 200) answered.add(path);
    return body;
  }

  const expect = (status: number, target: string, token: string | undefined = TOKEN) =>
    expectOf(status, target, token === '' ? {} : { Authorization: `Basic ${token}` });

  function checkResponse(response: Response, body: string, documented: unknown): void {
    const { content, headers = {} } = documented as DocumentedResponse;
    // Pages of all origins may read the proofs.
    const isForAll = response.url.includes('/v1/prices/proof');
    t.equal(response.headers.get('access-control-allow-origin'), isForAll ? '*' : PAGE, response.url);
    t.ok(isForAll || response.headers.get('vary')?.includes('Origin'), response.url);
    const contentType = response.headers.get('content-type')!.replace(/;.*/, '');
    t.same(Object.keys(content), [contentType], response.url);
    const value: unknown = contentType === 'application/json' ? JSON.parse(body) : body;
    t.equal(check(content[contentType]!.schema, value), '', response.url);
    const isOpen = routes.get(new URL(response.url).pathname)?.access === 'open';
    if (!isOpen) t.equal(response.headers.get('cache-control'), 'private, no-cache', response.url);
    if (!isOpen) t.match(response.headers.get('vary'), /^Authorization/, response.url);
    // The service may answer 400 or 403 before it counts the request. All other answers have all documented headers.
    const mayLack = response.status === 400 || response.status === 403;
    for (const name of Object.keys(headers))
      t.ok(response.headers.has(name) || mayLack, `${response.url} ${name}`);
    for (const name of ['RateLimit-Limit', 'Retry-After', 'WWW-Authenticate', 'Allow'])
      t.ok(name in headers || !response.headers.has(name), `${response.url} documents ${name}`);
    if (response.url.includes('/v1/'))
      for (const [, digits] of body.matchAll(/"timestamp":([^,}]*)/g)) t.match(digits, /^[0-9]{19}$/);
  }

  const feed = await Feed.open(service);
  const metadata = { venue: 'x', depth: { levels: 3 } };
  const timestampNs = feed.nowNs();
  const update = publisherSigner(1).sign({ symbol: 'BTCUSD', price: units(72_147), timestampNs, metadata });
  await publish(feed.socket, [update]);
  await feed.accept({ symbol: 'AAPL', price: units(5) });
  const stark = await Feed.open(service, { type: 'stark', ack: 'durable' });
  await stark.accept({ symbol: 'DYDXUSD', price: units(2) });

  await t.test('a stream of events', async (t) => {
    const response = await send('/v1/stream?assets=BTCUSD,%233&channel=10ms', {
      Authorization: `Basic ${TOKEN}`,
    });
    t.equal(response.status, 200);
    const reader = response.body!.getReader();
    let body = '';
    while (!body.includes('event: unsigned')) body += Buffer.from((await reader.read()).value!).toString();
    checkResponse(response, body, openApi.paths['/v1/stream']!.get!.responses[200]);
    await reader.cancel();
    answered.add('/v1/stream');
  });

  await t.test('every route answers', async () => {
    const latest = await expect(200, '/v1/prices/latest?assets=BTCUSD,DYDXUSD,AAPL');
    const signed = [...latest.matchAll(/"timestamp":(\d{10})\d{9}/g)].map(([, second]) => Number(second));
    const second = Math.max(...signed);
    await expect(200, `/v1/prices/recent?timestamp=${second}&assets=BTCUSD,DYDXUSD`);
    await expect(404, `/v1/prices/recent?timestamp=${second - 500}&assets=BTCUSD`);
    const ns = BigInt(second + 1) * 1_000_000_000n;
    await pause(Math.max(0, Number(ns / 1_000_000n) - Date.now()));
    await expect(200, `/v1/prices/at?timestamp=${ns}&assets=BTCUSD,DYDXUSD`);
    await expect(410, `/v1/prices/at?timestamp=${ns - 500_000_000_000n}&assets=BTCUSD`);
    await expect(400, '/v1/prices/range?asset=BTCUSD&from=2&to=1');
    const kept = JSON.parse(await expect(410, '/v1/prices/range?asset=BTCUSD&from=1&to=2'));
    await expect(
      200,
      `/v1/prices/range?asset=BTCUSD&from=${BigInt(Math.ceil(kept.kept_from / 1e6 + 1)) * 1_000_000n}&to=${ns}`,
    );
    await expect(200, '/v1/prices/assets');
    await expect(400, '/v1/prices/latest?assets=NOUSD');
    await expect(403, '/v1/prices/latest?assets=BTCUSD', NARROW);
    const range = `symbol=BTCUSD&from=${second - 60}&to=${second + 60}`;
    await expect(200, `/v1/tradingview/history?${range}&resolution=1`);
    await expect(400, `/v1/tradingview/history?${range}&resolution=3`);
    const times = `from=${second - 60}&to=${second + 60}`;
    await expect(200, `/v1/candles?assets=BTCUSD,DYDXUSD&resolution=15&${times}`);
    await expect(400, `/v1/candles?assets=NOUSD&resolution=15&${times}`);
    await expect(200, '/v1/market_status?asset_id=AAPL');
    await expect(400, '/v1/market_status?asset_id=BTCUSD');
    await expect(200, '/v1/taxonomy');
    await expect(200, '/v1/nodes');
    await expect(200, '/v1/stream_ticket');
    await expect(200, '/v1/algorithms');
    await expect(200, '/v0/deployments/service_pushed_assets');
    await expect(200, '/udf/config');
    await expect(200, '/udf/time');
    await expect(200, '/udf/quotes?symbols=BTCUSD,AAPL,NOUSD');
    await expect(200, '/udf/symbols?symbol=AAPL');
    await expect(200, '/udf/search?query=usd&limit=1');
    await expect(200, `/udf/history?${range}&resolution=1`);
    await expect(200, '/udf/history?symbol=BTCUSD&from=0&to=60&resolution=1');
    await expect(400, '/udf/history?symbol=BTCUSD');
  });

  await t.test('refusals of every route with a token', async () => {
    for (const [path, { get }] of Object.entries(openApi.paths)) {
      if (get === undefined || get.security !== undefined) continue;
      await expect(401, path, 'unknown');
      await expect(403, path, path.startsWith('/v1/stream') ? NARROW : NO_REST);
      await expect(400, `${path}?a=%zz`);
    }
    // The token may make a single request in a second. This request uses it up.
    await fetch(`${service.url}/v1/taxonomy`, { headers: { Authorization: `Basic ${SLOW}` } });
    await expect(429, '/v1/taxonomy', SLOW);
  });

  await t.test('routes without a token are counted per address', async (t) => {
    t.equal(await expect(200, '/openapi.json', ''), JSON.stringify(openApi));
    await expect(200, '/asyncapi.json', '');
    await expect(200, '/v1/deployments/evm', '');
    // An address may make five simultaneous requests. After 0.2 s the address may make another.
    await pause(REFILL_MS);
    t.match(await expect(200, '/llms.txt', ''), /^# tickseal\n/);
    await pause(REFILL_MS);
    await expect(200, '/v1/signers', '');
    // A service without a public log has no proofs; public_log.test.ts tests proofs.
    await expect(404, '/v1/prices/proof?asset=BTCUSD&timestamp=5', '');
    answered.add('/v1/prices/proof');
    let response: Response;
    do response = await send('/v1/deployments/evm');
    while (response.status === 200);
    t.equal(response.status, 429);
    checkResponse(response, await response.text(), openApi.components.responses['TooManyRequests']);
  });

  await t.test('routes of publishers that log in', async () => {
    const login = loginHeaders(1, 'evm');
    const brokers = '/v1/registry/brokers';
    await expectOf(200, `${brokers}?publisher_key=${login['X-Public-Key']}`, login);
    await expectOf(400, brokers, login);
    await expectOf(401, brokers, {});
    await expectOf(403, brokers, loginHeaders(77, 'evm'));
    await expectOf(200, '/v1/publisher/metadata', login, 'POST');
    await expectOf(401, '/v1/publisher/metadata', {}, 'POST');
  });

  await t.test('what no operation answers', async (t) => {
    const { responses } = openApi.components;
    t.equal((await get(`${service.url}/v2/prices`)).status, 404);
    const post = await send('/v1/taxonomy', {}, { method: 'POST' });
    t.equal(post.status, 405);
    checkResponse(post, await post.text(), responses['MethodNotAllowed']);
    const body = await send('/v1/taxonomy', {}, { method: 'POST', body: 'x' });
    t.equal(body.status, 400);
    checkResponse(body, await body.text(), responses['BadRequest']);
  });

  const unanswered = Object.keys(openApi.paths).filter((path) => !answered.has(path));
  t.same(unanswered, [], 'every path had an answer checked');
});

interface DocumentedResponse {
  readonly content: Readonly<Record<string, { readonly schema: object }>>;
  readonly headers?: Readonly<Record<string, unknown>>;
}
