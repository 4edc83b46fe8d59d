import { test } from 'tap';
import { pause } from '../../scripts/load/wait.js';
import { bodyOf, routesOf } from '../../scripts/site/described_routes.js';
import { type PriceToSign, publishMessage } from '../../src/client/index.js';
import { systemClock } from '../../src/clock/clock.js';
import type { AsyncApiDocument } from '../../src/server/documents/asyncapi.js';
import type { OpenApiDocument } from '../../src/server/documents/openapi.js';
import { checkerOf, follow, messageFinder } from '../server/documents/checker.js';
import { get, publisherSigner, sha256, startTestService, TestSocket, TOKEN } from './harness.js';
import { loginHeaders } from './login_headers.js';

// Tests that all answers of a running service agree with the documents that it serves.

const NARROW = 'narrow-token';
const SLOW = 'slow-token';
const NO_REST = 'stream-token';
const MAX_RATE = 100_000;
/** The time after which an address without a token may make another request. */
const REFILL_MS = 300;
const clock = systemClock();
const routes = routesOf('service');
const openApi = JSON.parse(bodyOf(routes, '/openapi.json')) as OpenApiDocument;

const SECTIONS = {
  tokens: [
    {
      name: 'all',
      sha256: sha256(TOKEN),
      scopes: ['rest', 'stream', 'publish'],
      requests_per_second: MAX_RATE,
    },
    {
      name: 'narrow',
      sha256: sha256(NARROW),
      scopes: ['rest'],
      requests_per_second: MAX_RATE,
      assets: ['AAPL'],
    },
    { name: 'slow', sha256: sha256(SLOW), scopes: ['rest'], requests_per_second: 1 },
    { name: 'no rest', sha256: sha256(NO_REST), scopes: ['stream'] },
  ],
  assets: [
    { id: 1, symbol: 'BTCUSD' },
    { id: 2, symbol: 'DYDXUSD', signature_type: 'stark' },
    { id: 3, symbol: 'AAPL', calendar: 'us_equities' },
  ],
  deployments: [
    {
      chain_id: 1,
      network: 'ethereum',
      environment: 'mainnet',
      proxy_address: `0x${'ab'.repeat(20)}`,
      block_explorer_url: 'https://explorer.example/address',
    },
  ],
  pushed_assets: { ethereum: { mainnet: { BTCUSD: { delta: 0.5, staleness: 3600 } } } },
};

test('a running service says what its documents say', async (t) => {
  const service = await startTestService(SECTIONS);
  t.teardown(() => service.stop());
  const asyncApi = JSON.parse(bodyOf(routes, '/asyncapi.json')) as AsyncApiDocument;
  const check = checkerOf(openApi);
  const find = messageFinder(asyncApi);
  const answered = new Set<string>();

  /** Fetches a target, and checks the status, content type, headers and body of the answer. @returns the body */
  async function expect(status: number, target: string, token: string | undefined = TOKEN): Promise<string> {
    const headers = token === '' ? {} : { Authorization: `Basic ${token}` };
    const response = await fetch(`${service.url}${target}`, { headers });
    const path = target.replace(/\?.*/, '');
    const body = await response.text();
    t.equal(response.status, status, `${target} ${body.slice(0, 200)}`);
    const documented = openApi.paths[path]?.get?.responses[status];
    t.ok(documented, `${path} documents ${status}`);
    checkResponse(response, body, '$ref' in documented! ? follow(openApi, documented.$ref) : documented);
    if (status === 200) answered.add(path);
    return body;
  }

  function checkResponse(response: Response, body: string, documented: unknown): void {
    const { content, headers = {} } = documented as DocumentedResponse;
    const contentType = response.headers.get('content-type')!.replace(/;.*/, '');
    t.same(Object.keys(content), [contentType], response.url);
    const value: unknown = contentType === 'application/json' ? JSON.parse(body) : body;
    t.equal(check(content[contentType]!.schema, value), '', response.url);
    // The service may answer 400 or 403 before it counts the request. All other answers have all documented headers.
    const mayLack = response.status === 400 || response.status === 403;
    for (const name of Object.keys(headers))
      t.ok(response.headers.has(name) || mayLack, `${response.url} ${name}`);
    for (const name of ['RateLimit-Limit', 'Retry-After', 'WWW-Authenticate', 'Allow'])
      t.ok(name in headers || !response.headers.has(name), `${response.url} documents ${name}`);
    if (response.url.includes('/v1/'))
      for (const [, digits] of body.matchAll(/"timestamp":([^,}]*)/g)) t.match(digits, /^[0-9]{19}$/);
  }

  await t.test('publishers', async (t) => {
    const update = (over: Partial<PriceToSign> = {}): PriceToSign => ({
      symbol: 'BTCUSD',
      price: 72_147n * 10n ** 18n,
      timestampNs: clock.nowNs(),
      ...over,
    });
    const evm = publisherSigner(1);
    const stark = publisherSigner(1, 'stark');
    const said: string[] = [];
    /** Sends a message. Checks the message and the answer. */
    async function exchange(
      channel: string,
      query: string,
      text: string,
      isDocumented = true,
    ): Promise<string> {
      if (isDocumented) find(channel, 'client', text);
      const socket = await TestSocket.open(
        `${service.socketUrl}${asyncApi.channels[channel]!.address}${query}`,
      );
      socket.send(text);
      const answer = await socket.next();
      said.push(find(channel, 'service', answer));
      await socket.close();
      return answer;
    }
    const metadata = { venue: 'x', depth: { levels: 3 } };
    const both = [evm.sign(update({ metadata })), evm.sign(update({ symbol: 'AAPL', price: 5n }))];
    t.match(await exchange('publishEvm', '?ack=true', publishMessage('a', both)), '"BTCUSD","AAPL"');
    const one = stark.sign(update({ symbol: 'DYDXUSD' }));
    t.match(
      await exchange('publishStark', '?ack=durable', publishMessage('b', [one])),
      '"accepted":["DYDXUSD"]',
    );
    const unknown = publishMessage('c', [evm.sign(update({ symbol: 'NOUSD' }))]);
    t.match(await exchange('publishEvm', '', unknown), '"rejected":{"NOUSD":"unknown asset"}');
    t.match(await exchange('publishEvm', '?ack=true', unknown), '"accepted":[]');
    t.match(await exchange('publishEvm', '', 'not JSON', false), '"error":"the message is not JSON"');
    t.match(await exchange('publishStark', '', '{"type":"other","trace_id":"d"}', false), '"trace_id":"d"');
    t.equal(await exchange('publishStark', '', '{"type":"ping","id":"e"}'), '{"type":"pong","id":"e"}');
    t.same(said, ['ack', 'ack', 'publishError', 'ack', 'publishError', 'publishError', 'pong']);
  });

  await t.test('streams', async (t) => {
    for (const type of ['unsigned', 'signed_ecdsa']) {
      for (const query of [`message_type=${type}`, `message_type=${type}&addtl_attrs=ms&channel=10ms`]) {
        const socket = await TestSocket.open(`${service.socketUrl}/ws?${query}`);
        const send = (message: object) => {
          find('stream', 'client', JSON.stringify(message));
          socket.send(message);
        };
        send({ type: 'subscribe', assets: [3, 1, 77], ignore_invalid: true, id: 'first' });
        socket.send({ type: 'subscribe', assets: 'all', id: 2 });
        socket.send('not JSON');
        send({ type: 'unsubscribe', assets: [1], id: 3 });
        send({ type: 'ping', id: 4 });
        const said = new Set<string>();
        const frame = type === 'unsigned' ? 'unsigned' : 'signed';
        const wanted = ['subscribed', 'streamError', 'unsubscribed', 'pong', frame];
        while (!wanted.every((name) => said.has(name)))
          said.add(find('stream', 'service', await socket.next()));
        t.equal(said.size, wanted.length, query);
        await socket.close();
      }
    }
  });

  await t.test('a stream of events', async (t) => {
    const response = await fetch(`${service.url}/v1/stream?assets=BTCUSD,%233&channel=10ms`, {
      headers: { Authorization: `Basic ${TOKEN}` },
    });
    t.equal(response.status, 200);
    const reader = response.body!.getReader();
    let body = '';
    while (!body.includes('event: unsigned')) body += Buffer.from((await reader.read()).value!).toString();
    checkResponse(response, body, openApi.paths['/v1/stream']!.get!.responses[200]);
    await reader.cancel();
    answered.add('/v1/stream');
  });

  await t.test('every route answers', async (t) => {
    const latest = await expect(200, '/v1/prices/latest?assets=BTCUSD,DYDXUSD,AAPL');
    const signed = [...latest.matchAll(/"timestamp":(\d{10})\d{9}/g)].map(([, second]) => Number(second));
    t.match(latest, /"BTCUSD":.*"metadata":.*"DYDXUSD":.*"AAPL":/, 'all three have a price');
    const second = Math.max(...signed);
    await expect(200, `/v1/prices/recent?timestamp=${second}&assets=BTCUSD,DYDXUSD`);
    await expect(404, `/v1/prices/recent?timestamp=${second - 500}&assets=BTCUSD`);
    await expect(400, `/v1/prices/recent?timestamp=${second + 500}&assets=BTCUSD`);
    const ns = BigInt(second + 1) * 1_000_000_000n;
    await pause(Math.max(0, Number(ns / 1_000_000n) - Date.now()));
    await expect(200, `/v1/prices/at?timestamp=${ns}&assets=BTCUSD,DYDXUSD`);
    await expect(410, `/v1/prices/at?timestamp=${ns - 500_000_000_000n}&assets=BTCUSD`);
    await expect(400, `/v1/prices/at?timestamp=${ns + 500_000_000_000n}&assets=BTCUSD`);
    await expect(410, `/v1/prices/range?asset=BTCUSD&from=${ns - 500_000_000_000n}&to=${ns}`);
    await expect(400, '/v1/prices/range?asset=BTCUSD&from=2&to=1');
    const kept = JSON.parse(await expect(410, '/v1/prices/range?asset=BTCUSD&from=1&to=2'));
    await expect(
      200,
      `/v1/prices/range?asset=BTCUSD&from=${BigInt(Math.ceil(kept.kept_from / 1e6 + 1)) * 1_000_000n}&to=${ns}`,
    );
    await expect(200, '/v1/prices/assets');
    await expect(400, '/v1/prices/latest?assets=NOUSD');
    await expect(400, '/v1/prices/latest');
    await expect(403, '/v1/prices/latest?assets=BTCUSD', NARROW);
    const range = `symbol=BTCUSD&from=${second - 60}&to=${second + 60}`;
    await expect(200, `/v1/tradingview/history?${range}&resolution=1`);
    await expect(200, '/v1/tradingview/history?symbol=BTCUSD&from=0&to=60&resolution=1D');
    await expect(400, `/v1/tradingview/history?${range}&resolution=3`);
    await expect(403, `/v1/tradingview/history?${range}&resolution=1`, NARROW);
    const times = `from=${second - 60}&to=${second + 60}`;
    await expect(200, `/v1/candles?assets=BTCUSD,DYDXUSD&resolution=15&${times}`);
    await expect(400, `/v1/candles?assets=NOUSD&resolution=15&${times}`);
    await expect(403, `/v1/candles?assets=BTCUSD&resolution=15&${times}`, NARROW);
    await expect(200, '/v1/market_status?asset_id=AAPL');
    await expect(400, '/v1/market_status?asset_id=BTCUSD');
    await expect(403, '/v1/market_status?asset_id=BTCUSD', NARROW);
    await expect(200, '/v1/taxonomy');
    await expect(200, '/v1/nodes');
    await expect(200, '/v1/stream_ticket');
    await expect(200, '/v1/algorithms');
    await expect(200, '/v0/deployments/service_pushed_assets');
    await expect(200, '/udf/config');
    await expect(200, '/udf/time');
    await expect(200, '/udf/quotes?symbols=BTCUSD,AAPL,NOUSD');
    await expect(400, '/udf/quotes?symbols=BTCUSD,');
    await expect(200, '/udf/symbols?symbol=AAPL');
    await expect(200, '/udf/symbols?symbol=NOUSD');
    await expect(200, '/udf/search?query=usd&limit=1');
    await expect(400, '/udf/search?limit=many');
    await expect(200, `/udf/history?${range}&resolution=1`);
    await expect(200, `/udf/history?symbol=BTCUSD&from=${second}&to=${second + 60}&resolution=1&countback=5`);
    await expect(200, '/udf/history?symbol=BTCUSD&from=0&to=60&resolution=1');
    await expect(200, '/udf/history?symbol=BTCUSD&from=0&to=60&resolution=3');
    for (const step of ['1', '15', '60', '1D', 'W', '1M'])
      await expect(
        200,
        `/udf/history?symbol=BTCUSD&from=0&to=-999999999999999&resolution=${step}&countback=1`,
      );
    await expect(400, '/udf/history?symbol=BTCUSD');
  });

  await t.test('refusals of every route with a token', async () => {
    for (const path of Object.keys(openApi.paths).filter(
      (one) => openApi.paths[one]!.get?.security === undefined && openApi.paths[one]!.get,
    )) {
      await expect(401, path, '');
      await expect(401, path, 'unknown');
      await expect(403, path, path.startsWith('/v1/stream') ? NARROW : NO_REST);
      await expect(400, `${path}?a=%zz`);
      await expect(400, `${path}?a=1&a=2`);
    }
    // The token may make a single request in a second. This request uses it up.
    await fetch(`${service.url}/v1/taxonomy`, { headers: { Authorization: `Basic ${SLOW}` } });
    await expect(429, '/v1/taxonomy', SLOW);
  });

  await t.test('routes without a token are counted per address', async (t) => {
    t.equal(await expect(200, '/openapi.json', ''), JSON.stringify(openApi));
    t.equal(await expect(200, '/asyncapi.json', ''), JSON.stringify(asyncApi));
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
    do response = await fetch(`${service.url}/v1/deployments/evm`);
    while (response.status === 200);
    t.equal(response.status, 429);
    checkResponse(response, await response.text(), openApi.components.responses['TooManyRequests']);
  });

  await t.test('routes of publishers that log in', async (t) => {
    const ask = async (
      status: number,
      method: 'GET' | 'POST',
      target: string,
      headers: Record<string, string>,
    ) => {
      const response = await fetch(`${service.url}${target}`, { method, headers });
      const body = await response.text();
      t.equal(response.status, status, `${target} ${body}`);
      const path = target.replace(/\?.*/, '');
      const documented = openApi.paths[path]![method === 'GET' ? 'get' : 'post']!.responses[status]!;
      checkResponse(response, body, '$ref' in documented ? follow(openApi, documented.$ref) : documented);
      if (status === 200) answered.add(path);
    };
    const login = loginHeaders(1, 'evm');
    const brokers = '/v1/registry/brokers';
    await ask(200, 'GET', `${brokers}?publisher_key=${login['X-Public-Key']}`, login);
    await ask(400, 'GET', brokers, login);
    await ask(401, 'GET', brokers, {});
    await ask(403, 'GET', brokers, loginHeaders(77, 'evm'));
    await ask(200, 'POST', '/v1/publisher/metadata', login);
    await ask(401, 'POST', '/v1/publisher/metadata', {});
  });

  await t.test('what no operation answers', async (t) => {
    const { responses } = openApi.components;
    const unknown = await get(`${service.url}/v2/prices`);
    t.equal(unknown.status, 404);
    t.equal(check(responses['NotFound']!.content['application/json'].schema, await unknown.json()), '');
    const post = await fetch(`${service.url}/v1/taxonomy`, { method: 'POST' });
    t.equal(post.status, 405);
    checkResponse(post, await post.text(), responses['MethodNotAllowed']);
    const body = await fetch(`${service.url}/v1/taxonomy`, { method: 'POST', body: 'x' });
    t.equal(body.status, 400);
    checkResponse(body, await body.text(), responses['BadRequest']);
  });

  await t.test('the list of an empty catalogue', async () => {
    service.reconfigure({ ...SECTIONS, assets: [], pushed_assets: {}, tokens: [SECTIONS.tokens[0]] });
    await expect(404, '/v1/prices/assets');
  });

  const unanswered = Object.keys(openApi.paths).filter((path) => !answered.has(path));
  t.same(unanswered, [], 'every path had an answer checked');
});

interface DocumentedResponse {
  readonly content: Readonly<Record<string, { readonly schema: object }>>;
  readonly headers?: Readonly<Record<string, unknown>>;
}
