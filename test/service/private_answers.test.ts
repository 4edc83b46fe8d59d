import { type Test, test } from 'tap';
import { routesOf } from '../../scripts/site/described_routes.js';
import { DOCUMENT_PATHS, EVENTS_PATH, PAGE_PATHS, SOCKET_PATHS } from '../../src/wire/paths.js';
import { Feed, units } from './feed.js';
import { sha256, startTestService, TOKEN } from './harness.js';
import { loginHeaders } from './login_headers.js';
import { latestWhen } from './publishing.js';
import { RawHttp, type RawResponse } from './raw_http.js';

// Tests that no shared cache keeps an answer for which a token was needed, whatever its path and status are.

const BURST = 10;
const SECTIONS = {
  tokens: [
    {
      name: 'all',
      sha256: sha256(TOKEN),
      scopes: ['rest', 'stream', 'publish'],
      requests_per_second: 100_000,
    },
    {
      name: 'narrow',
      sha256: sha256('narrow'),
      scopes: ['rest'],
      requests_per_second: 1000,
      assets: ['AAPL'],
    },
    { name: 'slow', sha256: sha256('slow'), scopes: ['rest', 'stream'], requests_per_second: 1 },
    { name: 'none', sha256: sha256('none'), scopes: ['publish'] },
  ],
  limits: { refused_requests_per_minute: 100_000, failed_logins_per_minute: 100_000 },
  assets: [
    { id: 1, symbol: 'BTCUSD' },
    { id: 3, symbol: 'AAPL', calendar: 'us_equities' },
  ],
};

type Ask = (line: string, headers?: readonly string[]) => Promise<RawResponse>;

async function start(t: Test, listen: object = {}) {
  const service = await startTestService({ ...SECTIONS, listen });
  t.teardown(() => service.stop());
  /** Makes a request on a separate connection, and returns the head of its answer. */
  const ask: Ask = async (line, headers = []) => {
    const raw = await RawHttp.open(service.port);
    raw.request(line, headers);
    const response = await raw.responseHead();
    raw.end();
    return response;
  };
  return { service, ask };
}

const authorization = (token: string) => `Authorization: Basic ${token}`;

/** Returns the headers of an answer that caches read. */
function forCaches({ headers }: RawResponse): unknown {
  return [headers.get('cache-control'), headers.get('vary')];
}

const PRIVATE = ['private, no-cache', 'Authorization'];

test('every answer of every path that needs a token is private', async (t) => {
  const { service, ask } = await start(t);
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(65_000) });
  const statuses = new Set<number>();
  const expectPrivate = async (line: string, headers: readonly string[] = []) => {
    const response = await ask(line, headers);
    statuses.add(response.status);
    const isRange = line.startsWith(`GET ${range}`);
    const expected = isRange ? [PRIVATE[0], 'Authorization, Accept-Encoding'] : PRIVATE;
    t.same(forCaches(response), expected, `${line} ${headers} ${response.status}`);
    return response.status;
  };
  const { timestamp } = (await latestWhen(service, 'BTCUSD')).service_signed_price.timestamped_signature;
  const range = `/v1/prices/range?asset=BTCUSD&from=${timestamp}&to=${timestamp}`;
  const paths = [...routesOf('service')].filter(([, { access }]) => access !== 'open').map(([path]) => path);
  t.ok(paths.length >= 18, `${paths}`);
  for (const path of [...paths, EVENTS_PATH]) {
    t.equal(await expectPrivate(`GET ${path}`), path === '/v1/publisher/metadata' ? 405 : 401);
    for (const query of [
      '',
      '?assets=BTCUSD',
      '?asset=%',
      '?assets=NOPE',
      '?asset=BTCUSD&timestamp=1&time=1',
    ])
      for (const token of [TOKEN, 'narrow', 'none', 'wrong'])
        await expectPrivate(`GET ${path}${query}`, [authorization(token)]);
    for (const method of ['DELETE', 'HEAD', 'OPTIONS', 'get'])
      await expectPrivate(`${method} ${path}`, [authorization(TOKEN)]);
    await expectPrivate(`GET ${path}`, [authorization(TOKEN), 'Content-Length: 5']);
  }
  for (const line of [
    `GET ${range}`,
    `GET ${range}&format=csv`,
    'GET /v1/prices/latest?assets=BTCUSD',
    'GET /v1/stream?assets=BTCUSD',
    'GET /v1/taxonomy',
    'GET /v1/stream_ticket',
  ])
    t.equal(await expectPrivate(line, [authorization(TOKEN)]), 200, line);
  t.equal(await expectPrivate('GET /v1/prices/at?assets=BTCUSD&timestamp=1', [authorization(TOKEN)]), 410);
  const login = loginHeaders(1, 'evm');
  const brokers = `GET /v1/registry/brokers?publisher_key=${login['X-Public-Key']}`;
  const lines = Object.entries(login).map((pair) => pair.join(': '));
  t.equal(await expectPrivate(brokers, lines), 200);
  t.equal(await expectPrivate('POST /v1/publisher/metadata', ['Content-Length: 100000']), 413);
  for (const path of SOCKET_PATHS) {
    await expectPrivate(`GET ${path}`, [authorization(TOKEN)]);
    await expectPrivate(`GET ${path}`, [...UPGRADE, authorization('wrong')]);
  }
  await expectPrivate('GET /ws?channel=x', [...UPGRADE, authorization(TOKEN)]);
  await expectPrivate('GET /nope');
  for (let i = 0; i < BURST && !statuses.has(429); i++)
    await expectPrivate('GET /v1/prices/assets', [authorization('slow')]);
  t.same([...statuses].sort(), [200, 400, 401, 403, 404, 405, 410, 413, 426, 429, 501]);
});

const UPGRADE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
];

test('answers that need no token say themselves how long they may be kept', async (t) => {
  const { ask } = await start(t);
  for (const [path, expected] of [
    ['/v1/deployments/evm', [undefined, undefined]],
    ['/v1/signers', [undefined, undefined]],
    [DOCUMENT_PATHS.openApi, [undefined, undefined]],
    [PAGE_PATHS.home, ['no-cache', 'Accept-Encoding']],
    ['/tlog/checkpoint', ['no-store', undefined]],
  ] as const)
    for (const headers of [[], [authorization(TOKEN)]])
      t.same(forCaches(await ask(`GET ${path}`, headers)), expected, path);
});
