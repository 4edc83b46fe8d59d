import { type Test, test } from 'tap';
import { get, sha256, startTestService, type TestService } from '../service/harness.js';
import { RawHttp, type RawResponse } from '../service/raw_http.js';

// Every door of the service against every kind of token. The server are those that the service itself lists, so a new
// path is in here as soon as there is one.

const SCOPES = ['rest', 'stream', 'publish'] as const;
type Scope = (typeof SCOPES)[number];

interface Door {
  readonly path: string;
  /** Whose tokens come in; nobody needs one where it is left out. */
  readonly scope?: Scope;
  readonly headers: readonly string[];
}

const UPGRADE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];
const SOCKETS: readonly Door[] = [
  { path: '/ws', scope: 'stream', headers: UPGRADE },
  { path: '/evm/publish', scope: 'publish', headers: UPGRADE },
  { path: '/stark/publish', scope: 'publish', headers: UPGRADE },
];
const OPEN_PATHS = ['/asyncapi.json', '/docs', '/openapi.json', '/v1/deployments/evm'];

async function restDoors({ url }: TestService): Promise<Door[]> {
  const { paths } = (await (await get(`${url}/openapi.json`)).json()) as {
    paths: Record<string, { get: { security?: unknown[] } }>;
  };
  return Object.entries(paths).map(([path, { get: operation }]) =>
    operation.security ? { path, headers: [] } : { path, scope: 'rest' as const, headers: [] },
  );
}

async function knock({ port }: TestService, door: Door, headers: readonly string[]): Promise<RawResponse> {
  const raw = await RawHttp.open(port);
  raw.request(`GET ${door.path}`, [...headers, ...door.headers]);
  const response = await raw.response();
  raw.end();
  return response;
}

const bearer = (token: string) => `Authorization: Basic ${token}`;

/** A token of each set of scopes that there is, named after it. */
const TOKENS = [...Array(2 ** SCOPES.length).keys()].slice(1).map((bits) => {
  const scopes = SCOPES.filter((_, at) => bits & (1 << at));
  const name = scopes.join('-');
  return { name, sha256: sha256(name), scopes, requests_per_second: 100_000 };
});

const STRANGERS: readonly (readonly [why: string, headers: readonly string[]])[] = [
  ['no token', []],
  ['an empty one', ['Authorization:']],
  ['no scheme', ['Authorization: rest-stream-publish']],
  ['another scheme', ['Authorization: Bearer rest-stream-publish']],
  ['an unknown one', [bearer('rest-stream-publisH')]],
  ['the start of one', [bearer('rest-stream-publis')]],
  ['one and more', [bearer('rest-stream-publish1')]],
  ['its hash', [bearer(sha256('rest-stream-publish'))]],
  ['its base64', [bearer(Buffer.from('rest-stream-publish').toString('base64'))]],
  ['a long one', [bearer('x'.repeat(3_000))]],
  ['one twice', [bearer('rest-stream-publish'), bearer('rest-stream-publish')]],
  ['one behind an unknown one', [bearer('unknown'), bearer('rest-stream-publish')]],
  ['two in one header', [`${bearer('rest-stream-publish')}, Basic rest-stream-publish`]],
  ['one in the query', []],
];

for (const threads of [1, 2]) {
  test(`every token at every door, ${threads} threads`, async (t) => {
    const service = await startTestService({ listen: { port: 0, threads }, tokens: TOKENS });
    t.teardown(() => service.stop());
    const rest = await restDoors(service);
    const open = rest.filter(({ scope }) => scope === undefined).map(({ path }) => path);
    t.same(open.sort(), OPEN_PATHS, 'these are open, and no others');
    const server = [...rest.filter(({ scope }) => scope !== undefined), ...SOCKETS];
    t.ok(server.length > 12);
    let knocks = 0;
    for (const door of server) {
      for (const { name, scopes } of TOKENS) {
        const { status, body } = await knock(service, door, [bearer(name)]);
        knocks++;
        if (!scopes.includes(door.scope!)) {
          t.equal(status, 403, `${door.path} with ${name}`);
          t.match(JSON.parse(body), { error: `the access token has no scope "${door.scope}"` });
        } else if (door.scope === 'rest') t.ok([200, 400].includes(status), `${door.path}: ${status}`);
        else t.equal(status, 101, `${door.path} with ${name}`);
      }
      for (const [why, headers] of STRANGERS) {
        knocks++;
        refused(t, await knock(service, withQuery(door, why), headers), `${door.path}: ${why}`);
      }
    }
    t.comment(`${knocks} knocks at ${server.length} server`);
  });
}

function withQuery(door: Door, why: string): Door {
  if (why !== 'one in the query') return door;
  return {
    ...door,
    path: `${door.path}?token=rest-stream-publish&authorization=Basic%20rest-stream-publish`,
  };
}

function refused(t: Test, { status, headers, body }: RawResponse, what: string): void {
  t.equal(status, 401, what);
  t.match(headers.get('www-authenticate'), /^Basic /, what);
  t.match(JSON.parse(body), { error: /Authorization|access token/ }, what);
  t.notMatch(body, 'rest-stream-publish', 'what was sent does not come back');
}

test('the two listeners have no door in common', async (t) => {
  const service = await startTestService();
  t.teardown(() => service.stop());
  for (const path of ['/livez', '/readyz', '/metrics'])
    t.equal((await get(`${service.url}${path}`)).status, 404, path);
  for (const { path, headers } of [...(await restDoors(service)), ...SOCKETS]) {
    const answer = await knock({ ...service, port: service.adminPort }, { path, headers }, [
      bearer('test-token'),
    ]);
    t.equal(answer.status, 404, `${path} on the admin listener`);
  }
});
