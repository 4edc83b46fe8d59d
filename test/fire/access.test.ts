import { test } from 'tap';
import { EVENTS_PATH } from '../../src/wire/paths.js';
import { get, namedToken, startTestService, type TestService } from '../service/harness.js';
import { RawHttp, type RawResponse } from '../service/raw_http.js';
import { THREAD_COUNTS } from '../tier.js';

// Tests every endpoint of the service with every kind of token. The REST paths come from the OpenAPI document, so that a new
// path is tested as soon as it exists.

const SCOPES = ['rest', 'stream', 'publish'] as const;
type Scope = (typeof SCOPES)[number];

interface Target {
  readonly path: string;
  /** The required scope; absent for an open endpoint. */
  readonly scope?: Scope;
  readonly headers: readonly string[];
}

const UPGRADE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];
const SOCKETS: readonly Target[] = [
  { path: '/ws', scope: 'stream', headers: UPGRADE },
  { path: '/evm/publish', scope: 'publish', headers: UPGRADE },
  { path: '/stark/publish', scope: 'publish', headers: UPGRADE },
  { path: '/evm/subscribe', scope: 'stream', headers: UPGRADE },
  { path: '/stark/subscribe', scope: 'stream', headers: UPGRADE },
];
/** The paths for publishers that log in by signature. A token is not accepted there. */
const LOGIN_PATHS = ['/v1/publisher/metadata', '/v1/registry/brokers'];
/** The paths for streams. All other paths with a token need the scope `rest`. */
const STREAM_PATHS = ['/v1/stream_ticket', EVENTS_PATH];
const OPEN_PATHS = [
  '/asyncapi.json',
  '/llms.txt',
  '/openapi.json',
  '/v1/deployments/evm',
  '/v1/prices/proof',
  '/v1/signers',
];

async function restTargets({ url }: TestService): Promise<Target[]> {
  const { paths } = (await (await get(`${url}/openapi.json`)).json()) as {
    paths: Record<string, { get?: { security?: unknown[] } }>;
  };
  return Object.entries(paths)
    .filter(([path]) => !LOGIN_PATHS.includes(path))
    .map(([path, { get: operation }]) => {
      if (operation!.security) return { path, headers: [] };
      return { path, scope: STREAM_PATHS.includes(path) ? 'stream' : 'rest', headers: [] };
    });
}

async function request(
  { port }: TestService,
  target: Target,
  headers: readonly string[],
): Promise<RawResponse> {
  const raw = await RawHttp.open(port);
  raw.request(`GET ${target.path}`, [...headers, ...target.headers]);
  const response = await raw.response();
  raw.end();
  return response;
}

const bearer = (token: string) => `Authorization: Basic ${token}`;

/** Tokens for every set of scopes. The name of a token lists its scopes. */
const TOKENS = [...Array(2 ** SCOPES.length).keys()].slice(1).map((bits) => {
  const scopes = SCOPES.filter((_, at) => bits & (1 << at));
  const name = scopes.join('-');
  return namedToken(name, { scopes });
});

/** Tokens that no endpoint accepts. test/server/access tests each form of the header. */
const REFUSED: readonly (readonly string[])[] = [
  [],
  [bearer('rest-stream-publisH')],
  [bearer('rest-stream-publish'), bearer('rest-stream-publish')],
];
const IN_QUERY = 'token=rest-stream-publish&authorization=Basic%20rest-stream-publish';

for (const threads of THREAD_COUNTS) {
  test(`every token at every endpoint, ${threads} threads`, async (t) => {
    const service = await startTestService(t, {
      listen: { port: 0, threads },
      tokens: TOKENS,
      limits: { failed_logins_per_minute: 100_000 },
    });
    const rest = await restTargets(service);
    const open = rest.filter(({ scope }) => scope === undefined).map(({ path }) => path);
    t.same(open.sort(), OPEN_PATHS, 'these are open, and no others');
    const targets = [...rest.filter(({ scope }) => scope !== undefined), ...SOCKETS];
    t.ok(targets.length > 12);
    const wrong: string[] = [];
    for (const target of targets) {
      for (const { name, scopes } of TOKENS) {
        const { status, body } = await request(service, target, [bearer(name)]);
        const isWithoutScope = !scopes.includes(target.scope!);
        const expected = isWithoutScope ? [403] : target.headers === UPGRADE ? [101] : [200, 400];
        const answer = `${target.path} with ${name}: ${status} ${body}`;
        if (!expected.includes(status)) wrong.push(answer);
        else if (isWithoutScope && !body.includes(`the access token has no scope \\"${target.scope}\\"`))
          wrong.push(answer);
      }
      for (const headers of REFUSED) {
        const response = await request(service, { ...target, path: `${target.path}?${IN_QUERY}` }, headers);
        if (!isRefused(response))
          wrong.push(`${target.path}: ${headers}: ${response.status} ${response.body}`);
      }
    }
    t.same(wrong, []);
  });
}

/** Returns whether a request was refused with an answer that no cache shares and that does not repeat what was sent. */
function isRefused({ status, headers, body }: RawResponse): boolean {
  const isBasic = headers.get('www-authenticate')?.startsWith('Basic ') === true;
  const { error } = JSON.parse(body) as { readonly error: string };
  const isSaid = /Authorization|access token/.test(error);
  const isPrivate = headers.get('cache-control') === 'private, no-cache';
  return status === 401 && isBasic && isPrivate && isSaid && !body.includes('rest-stream-publish');
}

test('the two listeners have no path in common', async (t) => {
  const service = await startTestService(t);
  for (const path of ['/livez', '/readyz', '/metrics'])
    t.equal((await get(`${service.url}${path}`)).status, 404, path);
  for (const { path, headers } of [...(await restTargets(service)), ...SOCKETS]) {
    const answer = await request({ ...service, port: service.adminPort }, { path, headers }, [
      bearer('test-token'),
    ]);
    t.equal(answer.status, 404, `${path} on the admin listener`);
  }
});
