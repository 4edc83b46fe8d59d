import { type Test, test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { TicksealError, UnverifiedError } from '../../src/client/connect/errors.js';
import { createClient } from '../../src/client/node_index.js';
import { followSigners } from '../../src/client/signers_index.js';
import {
  METADATA_DEPTH_MAX,
  METADATA_LENGTH_MAX,
  METADATA_VALUES_MAX,
  readMetadataText,
} from '../../src/prices/message.js';
import { logFileReader } from '../../src/publiclog/witness/log_file_reader.js';
import { postCheckpoint } from '../../src/publiclog/witness/post_checkpoint.js';
import { answer, LIES, type LyingService, sendMessage, startLyingService } from './lying_service.js';

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
const signal = new AbortController().signal;

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

test('the largest metadata in each of a hundred inputs is no lie', async (t) => {
  const inner = `[${'0,'.repeat(METADATA_VALUES_MAX - METADATA_DEPTH_MAX - 1)}0]`;
  const deep = '{"a":'.repeat(METADATA_DEPTH_MAX - 2) + inner + '}'.repeat(METADATA_DEPTH_MAX - 2);
  const filled = '€'.repeat(METADATA_LENGTH_MAX - deep.length - '{"b":"","a":}'.length);
  const metadata = `{"b":"${filled}","a":${deep}}`;
  t.equal(readMetadataText(metadata), metadata, 'a publisher may send it');
  const fields = Array.from({ length: 14 }, (_, i) => `"field${i}":"${'f'.repeat(40)}"`).join();
  const input = `{"signed_price":{${fields}},"metadata":${metadata}}`;
  const aggregate = `{"price":"1","signed_prices":[${Array(100).fill(input).join()}]}`;
  const service = await startLyingService(t, answer(`{"data":{"A1":${aggregate}}}`));
  await t.rejects(sdk(service.url).latest(['A1']), UnverifiedError);
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

test('the text of a refusal is read in part', async (t) => {
  const service = await startLyingService(t, answer(`{"error":"${'x'.repeat(30 * MIB)}`, 400));
  await t.rejects(sdk(service.url).latest(['A1']), { message: /HTTP 400$/ });
});

test('an answer that drips has a time limit, and so has a line', async (t) => {
  const drip = (text: string) => async (url: string) => {
    const service = await startLyingService(t, (response) => {
      const timer = setInterval(() => response.write(text), 20);
      response.on('close', () => clearInterval(timer));
    });
    return { service, url };
  };
  const { boundedFetch } = await import('../../src/client/connect/bounded_fetch.js');
  for (const read of ['text', 'lines'] as const) {
    const { service } = await drip('x')('');
    const open = await boundedFetch({ url: service.url, answerMsMax: 300 });
    const all = async () => {
      if (read === 'text') await open.wholeText();
      else for await (const _ of open.lines());
    };
    await t.rejects(all(), { message: 'no answer within 300 ms' }, read);
  }
  const { service } = await drip('{}\n')('');
  const open = await boundedFetch({ url: service.url, answerMsMax: 300 });
  let lines = 0;
  for await (const some of open.lines()) {
    lines += some.length;
    if (lines > 30) break;
  }
  t.ok(lines > 30, 'lines that keep arriving may take longer');
});

test('the pages of a range move on', async (t) => {
  const page = (link: (path: string, service: LyingService) => string) => async (t: Test) =>
    startLyingService(t, (response, service, path) => {
      response.writeHead(200, { Link: `<${link(path, service)}>; rel="next"` }).end();
    });
  const fromOf = (path: string) => BigInt(/from=(\d+)/.exec(path)![1]!);
  const later = (path: string) => path.replace(/from=\d+/, `from=${fromOf(path) + 1n}`);
  for (const [name, link, requestsMax, message] of [
    ['the same page', (path) => path, 1, /does not advance: it leads from 5 to 5/],
    ['an earlier page', (path) => path.replace(/from=\d+/, 'from=4'), 1, /does not advance/],
    ['another host', (path) => `http://example.com${later(path)}`, 1, /leads to another place/],
    ['another path', (path) => later(path).replace('range', 'other'), 1, /leads to another place/],
    ['no range', () => '/', 1, /has no next range/],
    ['pages without rows', later, 21, /more than 20 answers of the range have no rows/],
  ] as readonly [string, (path: string) => string, number, RegExp][]) {
    const service = await page(link)(t);
    const read = async () => {
      for await (const _ of sdk(service.url).range('A1', { from: 5n, to: 10n ** 18n }));
    };
    await t.rejects(read(), { name: 'ProtocolError', message }, name);
    t.equal(service.requests, requestsMax, name);
  }
});

test('a stream survives a service that lies about its assets', async (t) => {
  for (const [name, lie] of Object.entries(LIES)) {
    const service = await startLyingService(t, lie, (socket, key) =>
      sendMessage(socket, key, Buffer.from('{}')),
    );
    const client = sdk(service.url);
    const errors: string[] = [];
    client.on('error', ({ message }) => errors.push(message));
    client.stream(['A1']);
    await eventually(() => errors.some((message) => CLEAR.test(message)));
    await client.close();
    t.notOk(
      errors.some((message) => UNCLEAR.test(message)),
      `${name}: ${errors[0]?.slice(0, 200)}`,
    );
    t.ok(service.sentBytes < 2 * SENT_BYTES_MAX, name);
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

test('files of a log and answers of witnesses have the same bounds', async (t) => {
  for (const name of ['endless', 'of 100 MB', 'a bomb of gzip', 'gzip without content']) {
    const service = await startLyingService(t, LIES[name]!);
    const readFile = logFileReader(`${service.url}/tlog/`, signal);
    await t.rejects(readFile('checkpoint', 1_000), { message: CLEAR }, name);
    await t.rejects(postCheckpoint(`${service.url}/add`, 'x', signal), { message: CLEAR }, name);
    t.ok(service.sentBytes < SENT_BYTES_MAX, name);
  }
});
