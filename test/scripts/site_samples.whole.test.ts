import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { test } from 'tap';
import { loadPages, SITE } from '../../src/server/live_page/page_files.js';
import { Feed, units } from '../service/feed.js';
import { startTestService, TOKEN } from '../service/harness.js';

test('the sample of a request in the site of documents prints the answer', async (t) => {
  const service = await startTestService(t);
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(95_000) });
  const page = String(loadPages([SITE]).get('/docs/prices.html')?.bodies.identity);
  const [, markup = ''] = /id="v1_prices_latest">[\s\S]*?<pre[^>]*>([\s\S]*?)<\/pre>/.exec(page) ?? [];
  const code = markup
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&#(\d+);/g, (_, digits: string) => String.fromCharCode(Number(digits)));
  const env = { ...process.env, TICKSEAL_URL: service.url, TICKSEAL_TOKEN: TOKEN };
  const { stdout } = await promisify(execFile)('bash', ['-c', code], { env });
  t.match(stdout, /"BTCUSD":\{"timestamp":\d{19},/);
});
