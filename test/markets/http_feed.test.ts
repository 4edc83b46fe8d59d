import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'tap';
import { SourceRun } from '../../src/markets/source_run.js';
import { planOf } from '../sources/plans.js';
import { ManualTime, until } from './manual_time.js';

test('an HTTP source is asked at its interval, with its key, and left alone after a 429', async (t) => {
  const asked: (string | undefined)[] = [];
  let status = 200;
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers['x-key']}`);
    response.writeHead(status).end('{"rate":1.1367}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const time = new ManualTime();
  const warnings: string[] = [];
  const run = new SourceRun({
    plan: planOf(`
sources: { rates: { kind: http, url: "http://127.0.0.1:${port}/{symbol}", every: 5s, price: "$.rate", headers: { X-Key: { env: RATES_KEY } } } }
assets: { EURUSD: { from: [rates EUR/USD], min_sources: 1 } }
`),
    clock: time,
    schedule: time.schedule,
    random: () => 0.5,
    env: { RATES_KEY: 'hidden' },
    write: () => {},
    warn: (text) => warnings.push(text),
  });
  t.teardown(() => run.close());
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
