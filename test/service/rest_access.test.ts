import { test } from 'tap';
import { FakeClock } from '../clock/fake_clock.js';
import { get, sha256, startTestService, TOKEN } from './harness.js';
import { RawHttp } from './raw_http.js';

// Tests of the access control, and of the refusals before a route is called.

const AUTHORIZATION = `Authorization: Basic ${TOKEN}`;

test('a token opens the API, whatever the case of its scheme', async (t) => {
  const service = await startTestService();
  t.teardown(() => service.stop());
  for (const scheme of ['Basic', 'basic', 'BASIC', 'bAsIc']) {
    const response = await fetch(`${service.url}/v1/prices/assets`, {
      headers: { Authorization: `${scheme} ${TOKEN}` },
    });
    t.equal(response.status, 200, scheme);
    t.match(response.headers.get('content-type'), 'application/json');
    t.same(await response.json(), { data: ['BTCUSD', 'DYDXUSD'] });
  }
});

test('no token, a malformed one, a repeated one and an unknown one are 401', async (t) => {
  const service = await startTestService();
  t.teardown(() => service.stop());
  const raw = await RawHttp.open(service.port);
  t.teardown(() => raw.end());
  const cases: readonly (readonly string[])[] = [
    [],
    ['Authorization: Bearer test-token'],
    ['Authorization: Basic'],
    ['Authorization: test-token'],
    ['Authorization: Basic test token'],
    ['Authorization: Basic test-tokem'],
    ['Authorization: Basic TEST-TOKEN'],
    [AUTHORIZATION, AUTHORIZATION],
    [AUTHORIZATION, 'authorization: Basic other'],
  ];
  for (const headers of cases) {
    for (const path of [
      '/v1/prices/latest?assets=BTCUSD',
      '/v1/taxonomy',
      '/udf/time',
      '/v1/market_status',
    ]) {
      raw.request(`GET ${path}`, headers);
      const { status, headers: answered, body } = await raw.response();
      t.equal(status, 401, `${path} ${headers}`);
      t.match(answered.get('www-authenticate'), /^Basic/);
      t.match(JSON.parse(body), { error: /Authorization|token/ });
      t.notMatch(body, TOKEN);
    }
  }
});

test('a path or method that only resembles a route is refused, with the error of that fault', async (t) => {
  const service = await startTestService();
  t.teardown(() => service.stop());
  const raw = await RawHttp.open(service.port);
  t.teardown(() => raw.end());
  for (const [line, status] of [
    ['GET /v1/prices/latest?assets=BTCUSD', 200],
    ['GET /v1/prices/latest/?assets=BTCUSD', 404],
    ['GET /v1/prices/latest/more?assets=BTCUSD', 404],
    ['GET /v1/prices//latest?assets=BTCUSD', 404],
    ['GET //v1/prices/latest?assets=BTCUSD', 404],
    ['GET /v1/prices/LATEST?assets=BTCUSD', 404],
    ['GET /v1/prices/lates%74?assets=BTCUSD', 404],
    ['POST /v1/prices/latest?assets=BTCUSD', 405],
    ['GET /v1/publisher/metadata', 405],
  ] as const) {
    raw.request(line, [AUTHORIZATION]);
    t.equal((await raw.response()).status, status, line);
  }
});

test('a token without the scope or without the asset is 403', async (t) => {
  const token = (name: string, rest: object) => ({ name, sha256: sha256(name), ...rest });
  const service = await startTestService({
    tokens: [
      token('streamer', { scopes: ['stream', 'publish'] }),
      token('limited', { scopes: ['rest'], assets: ['BTCUSD'], requests_per_second: 100 }),
    ],
  });
  t.teardown(() => service.stop());
  const ask = async (name: string, path: string) => {
    const response = await fetch(`${service.url}${path}`, { headers: { Authorization: `Basic ${name}` } });
    return { status: response.status, body: await response.json() };
  };
  t.match(await ask('streamer', '/v1/prices/assets'), { status: 403, body: { error: /scope "rest"/ } });
  t.same(await ask('limited', '/v1/prices/assets'), { status: 200, body: { data: ['BTCUSD'] } });
  t.match(await ask('limited', '/v1/taxonomy'), {
    status: 200,
    body: { data: { assets: [{ asset_id: 1 }] } },
  });
  t.match(await ask('limited', '/v1/prices/latest?assets=BTCUSD,DYDXUSD'), {
    status: 403,
    body: { error: /DYDXUSD/ },
  });
  const nowS = Math.floor(Date.now() / 1000);
  for (const path of [
    `/v1/prices/recent?timestamp=${nowS - 1}&assets=DYDXUSD`,
    '/v1/tradingview/history?symbol=DYDXUSD&resolution=1&from=0&to=60',
    '/v1/market_status?asset_id=DYDXUSD',
  ])
    t.match(await ask('limited', path), { status: 403, body: { error: /DYDXUSD/ } }, path);
});

test('unknown paths are 404, other methods 405, and both are JSON', async (t) => {
  const service = await startTestService();
  t.teardown(() => service.stop());
  for (const path of [
    '/index.html',
    '/page/none.js',
    '/v1',
    '/v1/prices',
    '/v1/prices/assets/',
    '/V1/prices/assets',
    '/livez',
    '/metrics',
  ]) {
    const response = await get(`${service.url}${path}`);
    t.equal(response.status, 404, path);
    t.match(await response.json(), { error: /path/ });
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    const response = await fetch(`${service.url}/v1/prices/assets`, { method });
    t.equal(response.status, 405, method);
    t.equal(response.headers.get('allow'), 'GET');
    t.match(await response.json(), { error: /GET/ });
  }
  const head = await fetch(`${service.url}/v1/prices/assets`, { method: 'HEAD' });
  t.equal(head.status, 405);
  t.equal(head.headers.get('allow'), 'GET');
  t.equal(await head.text(), '');
});

test('a connection serves request after request, also when they come at once', async (t) => {
  const service = await startTestService();
  t.teardown(() => service.stop());
  const raw = await RawHttp.open(service.port);
  t.teardown(() => raw.end());
  const head = `Host: test\r\n${AUTHORIZATION}\r\n\r\n`;
  raw.socket.write(`GET /v1/prices/assets HTTP/1.1\r\n${head}HEAD /v1/taxonomy HTTP/1.1\r\n${head}`);
  raw.socket.write(`GET /v1/taxonomy HTTP/1.1\r\n${head}`);
  t.match(await raw.response(), { status: 200, body: /BTCUSD/ });
  t.match(await raw.response(), { status: 405, body: '' });
  t.match(await raw.response(), { status: 200, body: /taxonomy_id/ });
});

test('an answer to HEAD has the length of the body of GET, and leaves the connection as GET does', async (t) => {
  const service = await startTestService();
  t.teardown(() => service.stop());
  const lengthOf = async (raw: RawHttp, line: string) => {
    raw.request(line, [AUTHORIZATION]);
    return (await raw.responseHead()).headers.get('content-length');
  };
  const raw = await RawHttp.open(service.port);
  t.teardown(() => raw.end());
  const { body } = await get(`${service.url}/nope`).then(async (response) => ({
    body: await response.text(),
  }));
  for (let i = 0; i < 2; i++) t.equal(await lengthOf(raw, 'HEAD /nope'), String(body.length));
  t.equal(await lengthOf(raw, 'HEAD /v1/prices/range'), undefined, 'GET has another answer');
  raw.request('HEAD /nope', ['Content-Length: 5'], 'GET /');
  const refused = await raw.responseHead();
  t.equal(refused.status, 400);
  t.not(refused.headers.get('content-length'), '0');
  t.equal(refused.headers.get('connection'), 'close');
  await raw.closed;
});

test('a request that announces a body is 400 and its connection closes', async (t) => {
  const service = await startTestService();
  t.teardown(() => service.stop());
  const announcements = [
    ['Content-Length: 14'],
    ['Transfer-Encoding: chunked'],
    ['Content-Length: 0', 'Content-Length: 14'],
  ];
  for (const announcement of announcements) {
    for (const line of [
      'GET /v1/prices/assets',
      'POST /v1/prices/assets',
      'GET /nope',
      'GET /v1/deployments/evm',
    ]) {
      const raw = await RawHttp.open(service.port);
      raw.request(line, [AUTHORIZATION, ...announcement], '4\r\nGET \r\n0\r\n\r\n');
      const { status, body } = await raw.response();
      // If a request has two `Content-Length` headers, the parser itself refuses the request before the service can answer.
      if (announcement.length === 1) t.equal(status, 400, `${line} ${announcement}`);
      else t.ok(status >= 400, `${line} ${announcement}`);
      if (announcement.length === 1) t.match(JSON.parse(body), { error: /body/ });
      await raw.closed;
    }
  }
  const raw = await RawHttp.open(service.port);
  t.teardown(() => raw.end());
  raw.request('GET /v1/prices/assets', [AUTHORIZATION, 'Content-Length: 0']);
  t.equal((await raw.response()).status, 200, 'a length of 0 announces none');
});

test('a token has its requests a second, in one burst, and then 429', async (t) => {
  const clock = new FakeClock();
  const token = (name: string, rest: object) => ({ name, sha256: sha256(name), scopes: ['rest'], ...rest });
  const service = await startTestService(
    { tokens: [token('usual', {}), token('fast', { requests_per_second: 7 })] },
    { clock },
  );
  t.teardown(() => service.stop());
  const ask = async (name: string, path = '/v1/prices/assets') => {
    const { status, headers } = await fetch(`${service.url}${path}`, {
      headers: { Authorization: `Basic ${name}` },
    });
    const [limit, remaining] = [headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')];
    return {
      status,
      limit,
      remaining,
      reset: headers.get('ratelimit-reset'),
      retry: headers.get('retry-after'),
    };
  };
  for (const remaining of ['4', '3', '2', '1', '0'])
    t.same(await ask('usual'), { status: 200, limit: '5', remaining, reset: '1', retry: null });
  const refused = { status: 429, limit: '5', remaining: '0', reset: '1', retry: '1' };
  t.same(await ask('usual'), refused);
  t.same(await ask('usual', '/v1/prices/latest?assets=NOPE'), refused, 'bad requests count too');
  t.match(await ask('fast'), { status: 200, limit: '7', remaining: '6' }, 'each token counts by itself');
  clock.advance(199_999_999n);
  t.same(await ask('usual'), refused);
  clock.advance(1n);
  t.match(await ask('usual'), { status: 200, remaining: '0' });
  t.same(await ask('usual'), refused);
  clock.advance(60_000_000_000n);
  t.match(await ask('usual', '/v1/prices/latest?assets=NOPE'), { status: 400, remaining: '4', retry: null });
});

test('the deployments need no token and count per client address', async (t) => {
  const clock = new FakeClock();
  const deployment = {
    chain_id: 11155111,
    network: 'ethereum',
    environment: 'testnet',
    proxy_address: '0xC4A02e7D370402F4afC36032076B05e74FF81786',
    block_explorer_url: 'https://sepolia.etherscan.io/address/0xC4A02e7D370402F4afC36032076B05e74FF81786',
  };
  const service = await startTestService({ deployments: [deployment] }, { clock });
  t.teardown(() => service.stop());
  const url = `${service.url}/v1/deployments/evm`;
  for (const headers of [{}, { Authorization: 'Basic unknown' }, { 'X-Forwarded-For': '1.2.3.4' }]) {
    const response = await fetch(url, { headers });
    t.equal(response.status, 200);
    t.equal(response.headers.get('ratelimit-limit'), '5');
    t.same(await response.json(), { data: [deployment] });
  }
  t.equal((await fetch(url)).status, 200);
  t.equal((await fetch(url)).status, 200);
  const refused = await fetch(url, { headers: { 'X-Forwarded-For': '5.6.7.8' } });
  t.equal(refused.status, 429, 'a header names no other address');
  t.equal(refused.headers.get('retry-after'), '1');
  t.match(await refused.json(), { error: /too many/ });
  t.equal((await get(`${service.url}/v1/taxonomy`)).status, 200, 'tokens are counted apart');
  clock.advance(200_000_000n);
  t.equal((await fetch(url)).status, 200);
});
