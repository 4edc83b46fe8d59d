import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { type Test, test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { boundedFetch } from '../../src/client/connect/bounded_fetch.js';
import { TicksealError } from '../../src/client/connect/errors.js';
import { createClient } from '../../src/client/node_index.js';
import { followSigners } from '../../src/client/signers_index.js';
import { serve } from '../local_server.js';

// A service may be broken or lie. Each of its answers ends early, takes bounded memory, and is an error that says what is wrong.

const TOKEN = 'token-of-a-test';
const MIB = 1024 ** 2;
/** The largest answer, and the data in the buffers of two sockets. */
const SENT_BYTES_MAX = 32 * MIB;
const GROWTH_BYTES_MAX = 160 * MIB;
const MS_MAX = 5_000;
const SIGNER = `0x${'1'.repeat(40)}`;
const CLEAR =
  /more than \d+ (?:bytes|characters|levels|values)|compressed|redirect|not JSON|is not an? \w+|no data|Link|does not advance|not verified/;
const UNCLEAR = /undefined|null\b.*propert|not a function|not iterable|\[object/;

type Read = (url: string) => Promise<unknown>;

const sdk = (url: string) => createClient({ urls: url, token: TOKEN, signers: [SIGNER] });
const quorum = (url: string) =>
  createClient({
    quorum: {
      operators: ['a', 'b'].map((name, i) => ({
        name,
        urls: i === 0 ? url : url.replace('127.0.0.1', 'localhost'),
        signers: [`0x${String(i + 1).repeat(40)}`],
        token: TOKEN,
      })),
      threshold: 2,
    },
  });

/** Every reader of answers. Each returns a promise that must reject. */
const READERS: Readonly<Record<string, Read>> = {
  latest: (url) => sdk(url).latest(['A1']),
  at: (url) => sdk(url).at(['A1'], 1n),
  range: async (url) => {
    for await (const _ of sdk(url).range('A1', { from: 0n, to: 10n ** 18n }));
  },
  assets: (url) => sdk(url).assets(),
  taxonomy: (url) => sdk(url).taxonomy(),
  candles: (url) => sdk(url).candles('A1', { resolution: '1', from: 0, to: 60 }),
  marketStatus: (url) => sdk(url).marketStatus('A1'),
  'latest of a quorum': (url) => quorum(url).latest(['A1']),
  followSigners: (url) => followSigners({ urls: url, root: SIGNER }),
};

/** A service that lies in one way to each request. A test sees how much of the lie its reader has taken. */
interface LyingService {
  /** The base address, with `http://`. */
  readonly url: string;
  /** The number of requests and upgrades. */
  requests: number;
  /** The number of bytes that the readers have taken, with those in the buffers of the system. */
  sentBytes: number;
}

/** The answer to a request. */
type Lie = (response: ServerResponse, service: LyingService, path: string) => unknown;

const acceptOf = (key: string) =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
const PART = Buffer.alloc(65_536, '[0],');

/** Answers with a text and a status. */
const answer =
  (text: string, status = 200, headers: Record<string, string> = {}): Lie =>
  (response) =>
    response.writeHead(status, headers).end(text);

/** Answers in a way that takes memory, time or trust, by the name of the way. */
const LIES: Readonly<Record<string, Lie>> = {
  endless: (response, service) => {
    response.writeHead(200);
    return pour(response, service, PART);
  },
  'a bomb of gzip': (response) => {
    response.writeHead(200, { 'Content-Encoding': 'gzip' });
    response.end(Buffer.concat(Array<Buffer>(16).fill(gzipSync(Buffer.alloc(16 * MIB, ' ')))));
  },
  'gzip without content': (response, service) => {
    response.writeHead(200, { 'Content-Encoding': 'gzip' });
    response.write(gzipSync('').subarray(0, 10));
    // An empty block that is not the last one.
    return pour(response, service, Buffer.alloc(65_535, Buffer.from('000000ffff', 'hex')));
  },
  'nested lists': answer('['.repeat(4 * MIB)),
  'no JSON': answer('<html>\n'),
  null: answer('null\n'),
  'data: [null]': answer('{"data":[null]}\n'),
  'data: {"A1":null}': answer(
    '{"data":{"A1":null,"assets":[null],"taxonomy_id":1},"announcements":[null]}\n',
  ),
};

/** Starts a service that answers each request with a lie. */
async function startLyingService(
  t: Test,
  lie: Lie,
  onSocket: (socket: Duplex, key: string) => void = (socket) => socket.destroy(),
): Promise<LyingService> {
  const url = await serve(
    t,
    (request, response) => {
      service.requests += 1;
      response.on('error', () => {});
      lie(response, service, request.url!);
    },
    (socket, request) => {
      service.requests += 1;
      onSocket(socket, request.headers['sec-websocket-key']!);
    },
  );
  const service = { url, requests: 0, sentBytes: 0 };
  return service;
}

/** Accepts a WebSocket, and sends a text message without waiting. @param extension an extension that the reader did not offer */
function sendMessage(socket: Duplex, key: string, bytes: Buffer, extension = ''): void {
  const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  head.push(`Sec-WebSocket-Accept: ${acceptOf(key)}`);
  if (extension !== '') head.push(`Sec-WebSocket-Extensions: ${extension}`);
  const length = Buffer.alloc(10);
  length.writeUInt16BE(0x817f, 0);
  length.writeBigUInt64BE(BigInt(bytes.length), 2);
  // A frame that closes.
  socket.on('data', (frame: Buffer) => (frame[0]! & 15) === 8 && socket.destroy());
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  socket.write(length);
  socket.write(bytes);
}

/** Sends a part again and again, as fast as the reader takes it. */
async function pour(response: ServerResponse, service: LyingService, part: Buffer): Promise<void> {
  const closed = once(response, 'close');
  while (!response.destroyed) {
    const isFull = !response.write(part);
    service.sentBytes += part.length;
    if (isFull) await Promise.race([once(response, 'drain'), closed]);
  }
  response.end();
}

for (const [name, lie] of Object.entries(LIES))
  test(`an answer that lies: ${name}`, async (t) => {
    for (const [reader, read] of Object.entries(READERS)) {
      // Lines may be compressed. Nothing counts their bytes on the way, so the time limit of a line ends this lie.
      if (reader === 'range' && name === 'gzip without content') continue;
      const service = await startLyingService(t, lie);
      const before = process.memoryUsage().rss;
      const sinceMs = performance.now();
      const error = await read(service.url).then(
        () => undefined,
        (reason: Error) => reason,
      );
      const what = `${reader}: ${error?.message.slice(0, 300)}`;
      t.ok(error !== undefined && CLEAR.test(error.message) && !UNCLEAR.test(error.message), what);
      if (reader !== 'followSigners') t.ok(error instanceof TicksealError, `${reader}: a typed error`);
      t.ok(performance.now() - sinceMs < MS_MAX, `${reader}: in time`);
      t.ok(service.sentBytes < SENT_BYTES_MAX * 2, `${reader}: ${service.sentBytes} bytes were taken`);
      const growth = process.memoryUsage().rss - before;
      t.ok(growth < GROWTH_BYTES_MAX, `${reader}: ${Math.round(growth / MIB)} MiB more`);
    }
  });

test('a redirect is not followed, and the error names where it leads', async (t) => {
  const other = await startLyingService(t, answer('{"data":{}}'));
  for (const status of [301, 302, 307, 308])
    for (const [reader, read] of Object.entries(READERS)) {
      const service = await startLyingService(t, answer('', status, { Location: `${other.url}/place` }));
      await t.rejects(read(service.url), { message: new RegExp(`redirect to ${other.url}/place`) }, reader);
    }
  t.equal(other.requests, 0);
});

test('an answer that drips has a time limit, and so has a line', async (t) => {
  const drip = (text: string) =>
    startLyingService(t, (response) => {
      const timer = setInterval(() => response.write(text), 20);
      response.on('close', () => clearInterval(timer));
    });
  const { url } = await drip('x');
  for (const read of ['text', 'lines'] as const) {
    const all = async () => {
      const open = await boundedFetch({ url, answerMsMax: 300 });
      if (read === 'text') await open.wholeText();
      else for await (const _ of open.lines());
    };
    await t.rejects(all(), { message: 'no answer within 300 ms' }, read);
  }
  const open = await boundedFetch({ url: (await drip('{}\n')).url, answerMsMax: 300 });
  let lines = 0;
  for await (const some of open.lines()) {
    lines += some.length;
    if (lines > 30) break;
  }
  t.ok(lines > 30, 'lines that keep arriving may take longer');
});

test('the pages of a range move on', async (t) => {
  const fromOf = (path: string) => BigInt(/from=(\d+)/.exec(path)![1]!);
  const later = (path: string) => path.replace(/from=\d+/, `from=${fromOf(path) + 1n}`);
  for (const [name, link, requestsMax, message] of [
    ['the same page', (path) => path, 1, /does not advance: it leads from 5 to 5/],
    ['another host', (path) => `http://example.com${later(path)}`, 1, /leads to another place/],
    ['no range', () => '/', 1, /has no next range/],
    ['pages without rows', later, 21, /more than 20 answers of the range have no rows/],
  ] as readonly [string, (path: string) => string, number, RegExp][]) {
    const service = await startLyingService(t, (response, _service, path) => {
      response.writeHead(200, { Link: `<${link(path)}>; rel="next"` }).end();
    });
    const read = async () => {
      for await (const _ of sdk(service.url).range('A1', { from: 5n, to: 10n ** 18n }));
    };
    await t.rejects(read(), { name: 'ProtocolError', message }, name);
    t.equal(service.requests, requestsMax, name);
  }
});

test('a message of a socket has a bound, and no compression is offered', async (t) => {
  const taxonomy = answer(
    '{"data":{"taxonomy_id":1,"assets":[{"asset_id":1,"name":"A1","signature_type":"evm"}]}}',
  );
  for (const [name, bytes, extension, reason] of [
    ['40 MB', Buffer.alloc(40 * MIB, ' '), '', /a message has more than 8388608 bytes/],
    ['compression', Buffer.from('{}'), 'permessage-deflate', /extension/],
  ] as const) {
    const service = await startLyingService(t, taxonomy, (socket, key) =>
      sendMessage(socket, key, bytes, extension),
    );
    const client = sdk(service.url);
    const reasons: string[] = [];
    client.on('state', (event) => reasons.push(event.reason));
    client.on('error', () => {});
    client.stream(['A1']);
    await eventually(() => reasons.some((text) => reason.test(text)));
    await client.close();
    t.pass(name);
  }
});
