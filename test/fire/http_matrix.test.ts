import { type Test, test } from 'tap';
import { get, startTestService, TOKEN } from '../service/harness.js';
import { THREAD_COUNTS } from '../tier.js';
import { exchange } from './exchange.js';

// Tests of HTTP requests. Each row is a request, or bytes that look like a request, with the expected outcome: the statuses in
// order, the state of the connection, and the sender of the answer. Our handlers answer with JSON. If uWebSockets.js itself
// refuses a request, it answers with HTML, or not at all until its idle timeout of 10 s, as described in src/server/README.md.

type Row = readonly [
  name: string,
  request: string | Buffer,
  statuses: readonly number[],
  /**
   * The state of the connection. `cut` means closed, possibly without an answer. The service closes a connection when more bytes
   * arrive before it has answered. If the client is still writing, the write may fail before the client reads the answer.
   */
  after: 'open' | 'closed' | 'cut',
  /**
   * The sender of the answer, if it is not our handler. `reads` marks a request that is too long for a single packet. The parser
   * refuses a head that does not arrive in a single read, possibly while the client is still writing.
   */
  by?: 'parser' | 'reads',
];

/** The build of uWebSockets.js for Node 20 is older than the other builds. */
const IS_OLDER = process.versions.modules === '115';
/** The answer to some malformed heads: the older build closes the connection without an answer. */
const REFUSAL: readonly number[] = IS_OLDER ? [] : [400];

const AUTH = `Authorization: Basic ${TOKEN}\r\n`;
const HEAD = `Host: x\r\n${AUTH}`;
const PATH = '/v1/prices/assets';
const LATEST = '/v1/prices/latest';
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
const BODY = 'hello';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';

function withHeaders(headers: string, behind = '', method = 'GET'): string {
  return `${method} ${PATH} HTTP/1.1\r\n${HEAD}${headers}\r\n${behind}`;
}

function withTarget(target: string): string {
  return `GET ${target} HTTP/1.1\r\n${HEAD}\r\n`;
}

function upgrade(path: string, headers: string, behind = ''): string {
  return `GET ${path} HTTP/1.1\r\n${HEAD}${headers}\r\n${behind}`;
}

const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
const VERSION = 'Sec-WebSocket-Version: 13\r\n';

const PLAIN: readonly Row[] = [
  ['a plain request', withHeaders(''), [200], 'open'],
  ['no token', `GET ${PATH} HTTP/1.1\r\nHost: x\r\n\r\n`, [401], 'open'],
  ['a repeated token', withHeaders(AUTH), [401], 'open'],
  ['three at once', withHeaders('').repeat(3), [200, 200, 200], 'open'],
  ['forty at once', withHeaders('').repeat(40), new Array(40).fill(200), 'open'],
  ['connection: close', withHeaders('Connection: close\r\n'), [200], 'closed'],
  [
    'h2c upgrade',
    withHeaders('Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAA\r\n'),
    [200],
    'open',
  ],
  ['expect without a body', withHeaders('Expect: 100-continue\r\n'), [200], 'open'],
];

const BODIES: readonly Row[] = [
  ['a length of 0', withHeaders('Content-Length: 0\r\n'), [200], 'open'],
  ['a body', withHeaders('Content-Length: 5\r\n', BODY), [400], 'closed'],
  ['a body and a request behind it', withHeaders('Content-Length: 5\r\n', BODY + SMUGGLED), [400], 'cut'],
  ['a body that never comes', withHeaders('Content-Length: 500\r\n'), [400], 'closed'],
  ['a body with POST', withHeaders('Content-Length: 5\r\n', BODY, 'POST'), [400], 'closed'],
  ['expect with a body', withHeaders('Expect: 100-continue\r\nContent-Length: 5\r\n', BODY), [400], 'closed'],
  ['two lengths, the same', withHeaders('Content-Length: 5\r\nContent-Length: 5\r\n', BODY), [400], 'closed'],
  [
    'two lengths, 0 first',
    withHeaders(`Content-Length: 0\r\nContent-Length: ${SMUGGLED.length}\r\n`, SMUGGLED),
    [400],
    'cut',
  ],
  [
    'two lengths, 0 last',
    withHeaders(`Content-Length: ${SMUGGLED.length}\r\nContent-Length: 0\r\n`, SMUGGLED),
    [400],
    'cut',
  ],
  ['an empty length', withHeaders('Content-Length: \r\n', SMUGGLED), [400], 'cut'],
  ['a length of 00', withHeaders('Content-Length: 00\r\n', SMUGGLED), [400], 'cut'],
  ['a length of 2^32', withHeaders('Content-Length: 4294967296\r\n'), [400], 'closed'],
  ['a length of 2^64', withHeaders('Content-Length: 18446744073709551616\r\n'), [400], 'closed', 'parser'],
  ['a length of 24 digits', withHeaders(`Content-Length: ${'9'.repeat(24)}\r\n`), [400], 'closed', 'parser'],
  ['a length list', withHeaders('Content-Length: 5, 5\r\n', BODY), [400], 'closed', 'parser'],
  ['a negative length', withHeaders('Content-Length: -1\r\n', BODY), [400], 'closed', 'parser'],
  ['a length with a sign', withHeaders('Content-Length: +5\r\n', BODY), [400], 'closed', 'parser'],
  ['a length in hex', withHeaders('Content-Length: 0x5\r\n', BODY), [400], 'closed', 'parser'],
  ['a length before a space', withHeaders('Content-Length : 38\r\n', SMUGGLED), REFUSAL, 'closed', 'parser'],
  ['chunks', withHeaders(CHUNKED, '5\r\nhello\r\n0\r\n\r\n', 'POST'), [400], 'closed'],
  ['chunks and a request', withHeaders(CHUNKED, `0\r\n\r\n${SMUGGLED}`), [400], 'cut'],
  ['chunks of a bad size', withHeaders(CHUNKED, 'zz\r\nhello\r\n'), [400], 'closed', 'parser'],
  [
    'chunks and a length',
    withHeaders(`Content-Length: 6\r\n${CHUNKED}`, `0\r\n\r\n${SMUGGLED}`),
    [400],
    'closed',
    'parser',
  ],
  [
    'transfer-encoding identity',
    withHeaders('Transfer-Encoding: identity\r\n', SMUGGLED),
    [400],
    'closed',
    'parser',
  ],
  [
    'transfer-encoding xchunked',
    withHeaders('Transfer-Encoding: xchunked\r\n', SMUGGLED),
    [400],
    'closed',
    'parser',
  ],
  [
    'transfer-encoding behind a tab',
    withHeaders('Transfer-Encoding:\tchunked\r\n', `0\r\n\r\n${SMUGGLED}`),
    [400],
    'cut',
  ],
  [
    'transfer-encoding before a space',
    withHeaders('Transfer-Encoding : chunked\r\n', `0\r\n\r\n${SMUGGLED}`),
    REFUSAL,
    'closed',
    'parser',
  ],
  [
    'transfer-encoding behind a vertical tab',
    withHeaders('Transfer-Encoding:\x0bchunked\r\n', `0\r\n\r\n${SMUGGLED}`),
    REFUSAL,
    'closed',
    'parser',
  ],
  [
    'two transfer-encodings',
    withHeaders(`Transfer-Encoding: identity\r\n${CHUNKED}`, `0\r\n\r\n${SMUGGLED}`),
    [400],
    'cut',
  ],
];

const HEADERS: readonly Row[] = [
  ['no Host', `GET ${PATH} HTTP/1.1\r\n${AUTH}\r\n`, [400], 'closed', 'parser'],
  IS_OLDER
    ? ['two Hosts', withHeaders('Host: y\r\n'), [400], 'open']
    : ['two Hosts', withHeaders('Host: y\r\n'), [400], 'closed', 'parser'],
  // The parser ignores everything after a header without a name, and so does our service. So a proxy must reject such a
  // request.
  ['an empty header name', withHeaders(': v\r\n'), [200], 'open', 'parser'],
  ['obs-fold', withHeaders('X-A: b\r\n c\r\n'), REFUSAL, 'closed', 'parser'],
  [
    'obs-fold that hides a length',
    withHeaders('X: y\r\n Content-Length: 38\r\n', SMUGGLED),
    REFUSAL,
    'closed',
    'parser',
  ],
  [
    'a line feed that hides a length',
    withHeaders('X: y\nContent-Length: 38\r\n', SMUGGLED),
    REFUSAL,
    'closed',
    'parser',
  ],
  ['NUL in a value', withHeaders('X: a\0b\r\n'), REFUSAL, 'closed', 'parser'],
  ['NUL in a name', withHeaders('X\0: a\r\n'), REFUSAL, 'closed', 'parser'],
  ['a space in a name', withHeaders('X Y: a\r\n'), REFUSAL, 'closed', 'parser'],
  ['a header without a colon', withHeaders('XY\r\n'), REFUSAL, 'closed', 'parser'],
  [
    'a token in latin1',
    `GET ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: Basic \xe9\r\n\r\n`,
    [401],
    'open',
  ],
  ['95 headers more', withHeaders('X-A: b\r\n'.repeat(95)), [200], 'open'],
  ['200 headers more', withHeaders('X-A: b\r\n'.repeat(200)), IS_OLDER ? [] : [431], 'closed', 'parser'],
  ['a header of 100 KB', withHeaders(`X: ${'a'.repeat(100_000)}\r\n`), [200], 'open', 'reads'],
  ['headers that never end', `GET ${PATH} HTTP/1.1\r\nHo`, [], 'closed', 'parser'],
];

const LINES: readonly Row[] = [
  ['HTTP/1.0', `GET ${PATH} HTTP/1.0\r\n${HEAD}\r\n`, [505], 'closed', 'parser'],
  ['HTTP/2.0', `GET ${PATH} HTTP/2.0\r\n${HEAD}\r\n`, [505], 'closed', 'parser'],
  ['HTTP/0.9', `GET ${PATH}\r\n\r\n`, [505], 'closed', 'parser'],
  ['the HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [505], 'closed', 'parser'],
  ['a TLS hello', Buffer.from('16030100a5010000a10303', 'hex'), [505], 'closed', 'parser'],
  ['line feeds alone', `GET ${PATH} HTTP/1.1\nHost: x\n${AUTH.trim()}\n\n`, [505], 'closed', 'parser'],
  ['returns alone', `GET ${PATH} HTTP/1.1\rHost: x\r\r`, [505], 'closed', 'parser'],
  ['absolute-form', withTarget(`http://x${PATH}`), [505], 'closed', 'parser'],
  ['authority-form', `CONNECT x:80 HTTP/1.1\r\n${HEAD}\r\n`, [505], 'closed', 'parser'],
  ['asterisk-form', `OPTIONS * HTTP/1.1\r\n${HEAD}\r\n`, [505], 'closed', 'parser'],
  ['a target without a slash', withTarget('v1'), [505], 'closed', 'parser'],
  ['no target', withTarget(''), [505], 'closed', 'parser'],
  ['a space in the target', withTarget(`${PATH}?a=b c`), [505], 'closed', 'parser'],
  ['an empty line first', `\r\n${withHeaders('')}`, IS_OLDER ? [505] : [], 'closed', 'parser'],
  ['NUL in the target', withTarget('/v1\0/x'), [505], 'closed', 'parser'],
  ['a target of 100 KB', withTarget(`/${'a'.repeat(100_000)}`), [404], 'open', 'reads'],
  ['a target without an end', `GET /${'a'.repeat(20_000)}`, IS_OLDER ? [505] : [431], 'closed', 'parser'],
  [
    '1 MB of a target without an end',
    `GET /${'a'.repeat(1_000_000)}`,
    IS_OLDER ? [505] : [431],
    'cut',
    'parser',
  ],
  ['a method in lower case', withHeaders('', '', 'get'), [501], 'closed'],
  ['a method in mixed case', withHeaders('', '', 'GeT'), [501], 'closed'],
  ['a method that is none', withHeaders('', '', 'G@T'), [405], 'open'],
  ['a method of 5,000 letters', withHeaders('', '', 'A'.repeat(5_000)), [405], 'open'],
  ['PUT', withHeaders('', '', 'PUT'), [405], 'open'],
  ['HEAD', withHeaders('', '', 'HEAD'), [405], 'open'],
  ['TRACE', withHeaders('', '', 'TRACE'), [405], 'open'],
];

const TARGETS: readonly Row[] = [
  ['a bad escape', withTarget(`${LATEST}?assets=%zz`), [400], 'open'],
  ['half an escape', withTarget(`${LATEST}?assets=%4`), [400], 'open'],
  ['an escape that is no UTF-8', withTarget(`${LATEST}?assets=%ff%fe`), [400], 'open'],
  ['an encoded key', withTarget(`${LATEST}?%61ssets=BTCUSD`), [200], 'open'],
  ['a repeated parameter', withTarget(`${LATEST}?assets=BTCUSD&assets=BTCUSD`), [400], 'open'],
  ['a parameter repeated in escapes', withTarget(`${LATEST}?assets=BTCUSD&%61ssets=BTCUSD`), [400], 'open'],
  ['an encoded path', withTarget('/v1/%70rices/assets'), [404], 'open'],
  ['an encoded slash', withTarget('/v1/prices%2fassets'), [404], 'open'],
  ['dots in the path', withTarget(`/v1/..${PATH}`), [404], 'open'],
  ['two slashes', withTarget(`/${PATH}`), [404], 'open'],
  ['a fragment', withTarget(`${PATH}#x`), [404], 'open'],
  ['latin1 in the path', withTarget('/v1/\xff\xfe'), [404], 'open'],
  ['latin1 in the query', withTarget(`${LATEST}?assets=\xe9`), [400], 'open'],
  ['__proto__', withTarget(`${LATEST}?__proto__=1&assets=__proto__`), [400], 'open'],
];

const UPGRADES: readonly Row[] = [
  ['an upgrade', upgrade('/ws', UPGRADE + KEY + VERSION), [101], 'closed'],
  [
    'an upgrade in lower case',
    upgrade('/ws', UPGRADE + KEY + VERSION).replace('GET', 'get'),
    [501],
    'closed',
  ],
  ['an upgrade without a key', upgrade('/ws', UPGRADE + VERSION), [426], 'open'],
  [
    'an upgrade with a short key',
    upgrade('/ws', `${UPGRADE}${VERSION}Sec-WebSocket-Key: abc\r\n`),
    [426],
    'open',
  ],
  ['an upgrade of version 8', upgrade('/ws', `${UPGRADE}${KEY}Sec-WebSocket-Version: 8\r\n`), [426], 'open'],
  ['an upgrade that asks for none', upgrade('/ws', KEY + VERSION), [426], 'open'],
  [
    'an upgrade with a body',
    upgrade('/ws', `${UPGRADE}${KEY}${VERSION}Content-Length: 5\r\n`, BODY),
    [400],
    'closed',
  ],
  ['an upgrade with POST', upgrade('/ws', UPGRADE + KEY + VERSION).replace('GET', 'POST'), [426], 'open'],
  [
    'an upgrade without a token',
    `GET /ws HTTP/1.1\r\nHost: x\r\n${UPGRADE}${KEY}${VERSION}\r\n`,
    [401],
    'open',
  ],
  ['an upgrade to a REST path', upgrade(PATH, UPGRADE + KEY + VERSION), [200], 'open'],
];

const ROWS = [...PLAIN, ...BODIES, ...HEADERS, ...LINES, ...TARGETS, ...UPGRADES];

test('raw HTTP requests: each gets one answer at most, none hangs, and the process survives', async (t) => {
  t.ok(ROWS.length >= 60, `${ROWS.length} requests`);
  // Both tests run at the same time, because most of their time is the idle timeout of uWebSockets.js.
  t.jobs = 2;
  await Promise.all(
    THREAD_COUNTS.map((threads) => t.test(`${threads} threads`, (t) => checkRows(t, threads))),
  );
});

async function checkRows(t: Test, threads: number): Promise<void> {
  const service = await startTestService(t, { listen: { port: 0, threads } });
  const results = await Promise.all(
    ROWS.map(async (row) => {
      const [, request, statuses, after] = row;
      return { row, result: await exchange(service.port, request, statuses.length, after === 'open') };
    }),
  );
  t.comment(
    `${ROWS.length} requests, the slowest ${Math.round(Math.max(...results.map((one) => one.result.tookMs)))} ms`,
  );
  for (const { row, result } of results) {
    const [name, , statuses, after, by] = row;
    const { responses, end } = result;
    const answered = responses.map(({ status }) => status);
    if (by === 'reads' && end === 'closed') {
      t.match(answered.join(), /^(?:431|505)?$/, `${name}: refused by the parser`);
      continue;
    }
    t.same(answered, after === 'cut' ? statuses.slice(0, answered.length) : statuses, `${name}: answers`);
    t.equal(end, after === 'open' ? 'open' : 'closed', `${name}: end`);
    if (by === 'parser') continue;
    for (const { status, headers, body } of responses.filter((one) => one.status !== 101)) {
      t.equal(headers.get('content-type'), 'application/json', `${name}: ${status}`);
      if (!name.startsWith('HEAD')) t.match(Object.keys(JSON.parse(body)), [status < 300 ? 'data' : 'error']);
    }
  }
  t.equal((await get(`${service.url}${PATH}`)).status, 200, 'it still serves');
  t.equal((await get(`${service.adminUrl}/livez`)).status, 200);
}
