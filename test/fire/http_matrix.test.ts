import { type Test, test } from 'tap';
import { get, startTestService, TOKEN } from '../service/harness.js';
import { RawHttp, type RawResponse } from '../service/raw_http.js';
import { THREAD_COUNTS } from '../tier.js';

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
const LAST_CHUNK = '0\r\n\r\n';
const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\n';
const VERSION = 'Sec-WebSocket-Version: 13\r\n';

function withHeaders(headers: string, behind = '', method = 'GET', path = PATH): string {
  return `${method} ${path} HTTP/1.1\r\n${HEAD}${headers}\r\n${behind}`;
}

const withTarget = (target: string) => withHeaders('', '', 'GET', target);
const withMethod = (method: string) => withHeaders('', '', method);
const upgrade = (headers: string, behind = '', method = 'GET') => withHeaders(headers, behind, method, '/ws');

/** Requests that our handlers answer. */
const OURS: readonly Row[] = [
  ['a plain request', withHeaders(''), [200], 'open'],
  ['no token', `GET ${PATH} HTTP/1.1\r\nHost: x\r\n\r\n`, [401], 'open'],
  ['forty at once', withHeaders('').repeat(40), new Array(40).fill(200), 'open'],
  ['a body', withHeaders('Content-Length: 5\r\n', BODY), [400], 'closed'],
  ['a body and a request behind it', withHeaders('Content-Length: 5\r\n', BODY + SMUGGLED), [400], 'cut'],
  ['a body that never comes', withHeaders('Content-Length: 500\r\n'), [400], 'closed'],
  ['two lengths', withHeaders('Content-Length: 0\r\nContent-Length: 35\r\n', SMUGGLED), [400], 'cut'],
  ['an empty length', withHeaders('Content-Length: \r\n', SMUGGLED), [400], 'cut'],
  ['chunks', withHeaders(CHUNKED, `5\r\nhello\r\n${LAST_CHUNK}`, 'POST'), [400], 'closed'],
  ['chunks and a request', withHeaders(CHUNKED, LAST_CHUNK + SMUGGLED), [400], 'cut'],
  ['two encodings', withHeaders(`Transfer-Encoding: identity\r\n${CHUNKED}`, LAST_CHUNK), [400], 'cut'],
  ['a header of 100 KB', withHeaders(`X: ${'a'.repeat(100_000)}\r\n`), [200], 'open', 'reads'],
  ['a target of 100 KB', withTarget(`/${'a'.repeat(100_000)}`), [404], 'open', 'reads'],
  ['a method in lower case', withMethod('get'), [501], 'closed'],
  ['a method that is none', withMethod('G@T'), [405], 'open'],
  ['HEAD', withMethod('HEAD'), [405], 'open'],
  ['an escape that is no UTF-8', withTarget(`${LATEST}?assets=%ff%fe`), [400], 'open'],
  ['a parameter repeated in escapes', withTarget(`${LATEST}?assets=BTCUSD&%61ssets=BTCUSD`), [400], 'open'],
  ['__proto__', withTarget(`${LATEST}?__proto__=1&assets=__proto__`), [400], 'open'],
  ['an upgrade', upgrade(UPGRADE + KEY + VERSION), [101], 'closed'],
  ['an upgrade in lower case', upgrade(UPGRADE + KEY + VERSION, '', 'get'), [501], 'closed'],
  ['an upgrade without a key', upgrade(UPGRADE + VERSION), [426], 'open'],
  [
    'an upgrade with a body',
    upgrade(`${UPGRADE}${KEY}${VERSION}Content-Length: 5\r\n`, BODY),
    [400],
    'closed',
  ],
];

/** Requests that the parser refuses, with the statuses. The connection is then closed. */
const BY_PARSER: readonly (readonly [name: string, request: string | Buffer, statuses: readonly number[]])[] =
  [
    ['a length of 2^64', withHeaders('Content-Length: 18446744073709551616\r\n'), [400]],
    ['a length list', withHeaders('Content-Length: 5, 5\r\n', BODY), [400]],
    ['a length before a space', withHeaders('Content-Length : 38\r\n', SMUGGLED), REFUSAL],
    ['chunks and a length', withHeaders(`Content-Length: 6\r\n${CHUNKED}`, LAST_CHUNK + SMUGGLED), [400]],
    ['transfer-encoding identity', withHeaders('Transfer-Encoding: identity\r\n', SMUGGLED), [400]],
    ['no Host', `GET ${PATH} HTTP/1.1\r\n${AUTH}\r\n`, [400]],
    ['obs-fold that hides a length', withHeaders('X: y\r\n Content-Length: 38\r\n', SMUGGLED), REFUSAL],
    ['a line feed that hides a length', withHeaders('X: y\nContent-Length: 38\r\n', SMUGGLED), REFUSAL],
    ['200 headers more', withHeaders('X-A: b\r\n'.repeat(200)), IS_OLDER ? [] : [431]],
    ['headers that never end', `GET ${PATH} HTTP/1.1\r\nHo`, []],
    ['HTTP/1.0', `GET ${PATH} HTTP/1.0\r\n${HEAD}\r\n`, [505]],
    ['a TLS hello', Buffer.from('16030100a5010000a10303', 'hex'), [505]],
    ['absolute-form', withTarget(`http://x${PATH}`), [505]],
    ['NUL in the target', withTarget('/v1\0/x'), [505]],
  ];

const OTHERS: readonly Row[] = [
  IS_OLDER
    ? ['two Hosts', withHeaders('Host: y\r\n'), [400], 'open']
    : ['two Hosts', withHeaders('Host: y\r\n'), [400], 'closed', 'parser'],
  // The parser ignores everything after a header without a name, and so does our service. So a proxy must reject such a
  // request.
  ['an empty header name', withHeaders(': v\r\n'), [200], 'open', 'parser'],
  ['1 MB of a target', `GET /${'a'.repeat(1_000_000)}`, IS_OLDER ? [505] : [431], 'cut', 'parser'],
];

const ROWS: readonly Row[] = [
  ...OURS,
  ...BY_PARSER.map(([name, request, statuses]): Row => [name, request, statuses, 'closed', 'parser']),
  ...OTHERS,
];

test('raw HTTP requests: each gets one answer at most, none hangs, and the process survives', async (t) => {
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

/** The request that marks the end. Its answer is unique: an error that names the repeated parameter. */
const SENTINEL =
  'GET /v1/prices/latest?sentinel&sentinel HTTP/1.1\r\nHost: test\r\n' +
  `Authorization: Basic ${TOKEN}\r\n\r\n`;
const SENTINEL_ANSWER = 'sentinel is given more than once';

/** An empty, masked close frame, which ends a connection that has become a WebSocket. */
const CLOSE_FRAME = Buffer.from('888000000000', 'hex');

/**
 * Sends bytes and collects the answers. Answers come in the order of the requests. The sentinel is a request after the bytes,
 * and its answer shows that all their answers have arrived.
 * @param answers the expected number of answers; if `isOpenAfter`, the sentinel is sent after the bytes
 */
async function exchange(
  port: number,
  bytes: string | Buffer,
  answers: number,
  isOpenAfter: boolean,
): Promise<{ responses: RawResponse[]; end: 'closed' | 'open' }> {
  const http = await RawHttp.open(port);
  http.write(bytes);
  const responses: RawResponse[] = [];
  let end: 'closed' | 'open' = 'closed';
  for (let response = await http.responseOrEnd(); response; response = await http.responseOrEnd()) {
    if (response.body.includes(SENTINEL_ANSWER)) {
      end = 'open';
      break;
    }
    responses.push(response);
    if (response.status === 101) http.write(CLOSE_FRAME);
    if (isOpenAfter && responses.length === answers) http.write(SENTINEL);
  }
  http.end();
  return { responses, end };
}
