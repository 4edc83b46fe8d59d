import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { test } from 'tap';
import { loadPages, SITE } from '../../src/server/live_page/page_files.js';
import { Feed, units } from '../service/feed.js';
import { startTestService, TOKEN } from '../service/harness.js';

// Tests that the samples of the site of documents run.

const PROGRAMS = {
  curl: ['bash', '-c'],
  TypeScript: ['node', '--input-type=module', '--eval'],
  Python: ['python3', '-c'],
} as const;
const run = promisify(execFile);

test('the sample of a request prints the answer in each language', async (t) => {
  const service = await startTestService(t);
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(95_000) });
  const page = String(loadPages([SITE]).get('/docs/prices.html')?.bodies.identity);
  const [, section = ''] = /id="v1_prices_latest">([\s\S]*?)<h4>Answer/.exec(page) ?? [];
  for (const [language, [program, ...options]] of Object.entries(PROGRAMS)) {
    const [, markup = ''] =
      new RegExp(`data-language="${language}">.*?<pre[^>]*>([\\s\\S]*?)</pre>`).exec(section) ?? [];
    const code = markup
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll(/&#(\d+);/g, (_, digits: string) => String.fromCharCode(Number(digits)));
    const env = { ...process.env, TICKSEAL_URL: service.url, TICKSEAL_TOKEN: TOKEN };
    const { stdout } = await run(program, [...options, code], { env });
    t.match(stdout, /"BTCUSD":\{"timestamp":\d{19},/, language);
  }
});
