import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { Recorder } from '../../../src/sources/markets/recorder.js';
import { serve } from '../../local_server.js';
import { manualRun } from './manual_run.js';
import { ManualTime, until } from './manual_time.js';

test('an HTTP source is asked at its interval, with its key, and left alone after a 429', async (t) => {
  const asked: (string | undefined)[] = [];
  let status = 200;
  const address = await serve(t, (request, response) => {
    asked.push(`${request.url} ${request.headers['x-key']}`);
    // Some servers begin JSON with a byte order mark.
    response.writeHead(status).end('\ufeff{"rate":1.1367}');
  });
  const time = new ManualTime();
  const text = `
sources: { rates: { kind: http, url: "${address}/{symbol}", every: 5s, price: "$.rate", headers: { X-Key: { env: RATES_KEY } } } }
assets: { EURUSD: { from: [rates EUR/USD], min_sources: 1 } }
`;
  const { run, warnings } = manualRun(t, text, time, { env: { RATES_KEY: 'hidden' } });
  await run.open();
  await until(() => run.decisions()[0]!.price === 11_367n * 10n ** 14n, 'the price');
  status = 429;
  await until(() => {
    time.advance(100);
    return warnings.length > 0;
  }, 'the warning');
  t.same(warnings, ['rates: EUR/USD: the answer is 429']);
  t.same(asked, ['/EUR%2FUSD hidden', '/EUR%2FUSD hidden']);
  time.advance(50_000);
  await new Promise(setImmediate);
  t.equal(asked.length, 2, 'not within a minute');
  t.notMatch(warnings.join(), 'hidden');
});

test('a key goes in the query too, to no other server, and not into a recording', async (t) => {
  const key = 'k&y "8" of Zoë';
  const others: unknown[] = [];
  const other = await serve(t, ({ headers }, response) => {
    others.push(headers);
    response.end('{"rate":1}');
  });
  const asked: string[] = [];
  const address = await serve(t, ({ url = '', headers }, response) => {
    asked.push(url);
    if (url.startsWith('/moved')) response.writeHead(302, { Location: other }).end();
    else {
      const { searchParams } = new URL(url, 'http://a');
      const you = { url, headers, key: searchParams.get('apikey') };
      response.end(JSON.stringify({ rate: '1.1367', you }));
    }
  });
  const recording = join(t.testdir(), 'recording');
  const recorder = new Recorder(recording);
  const source = (path: string, rest: string) =>
    `{ kind: http, url: "${address}${path}", every: 5s, price: "$.rate", ${rest} }`;
  const file = `
sources:
  query: ${source('/q?a=1', 'query: { apikey: { env: QUERY_KEY }, s: "{symbol}" }')}
  header: ${source('/h', 'headers: { X-Key: { env: HEADER_KEY } }')}
  moved: ${source('/moved', 'headers: { X-Key: { env: HEADER_KEY } }')}
  broken: ${source('/b', 'headers: { X-Key: { env: BROKEN_KEY } }')}
assets: { A: { from: [query EUR/USD, header A, moved A, broken A] } }
`;
  const env = { QUERY_KEY: key, HEADER_KEY: 'header-key', BROKEN_KEY: 'broken\nkey' };
  const { run, warnings } = manualRun(t, file, new ManualTime(), { env, recorder });
  await run.open();
  const verdicts = () => run.decisions()[0]!.readings.map(({ verdict }) => verdict);
  await until(
    () =>
      asked.length === 4 && warnings.length === 2 && verdicts().filter((one) => one === 'used').length === 3,
    'all answers',
  );
  recorder.close();
  t.ok(asked.includes(`/q?a=1&${new URLSearchParams({ apikey: key, s: 'EUR/USD' })}`), asked.join(' '));
  t.same(others, []);
  t.same([...warnings].sort(), [
    'broken: no header may have the characters of BROKEN_KEY, so X-Key is not sent',
    'moved: A: the answer is a redirect, which is not followed; name the address to which it leads',
  ]);
  const text = readFileSync(recording, 'utf8');
  t.match(text, /"frame":\{"rate/);
  t.notMatch(text, /header-key|Zo/);
  t.notMatch(warnings.join(), /Zo|-key|broken\nkey/);
});
