import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, stop } from 'esbuild';
import { test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { ROOT } from '../pages.js';
import { Feed, units } from '../service/feed.js';
import { startTestService, TOKEN } from '../service/harness.js';
import { launchBrowser, needsBrowser, runInPage, serveFiles } from './browser.js';

// Tests of the client in a real browser, and of the example that shows a price in a page. The pages have another origin than the service,
// and their policy allows only their own files.

const EXAMPLE = 'browser_page';
const EXAMPLES = join(ROOT, 'src/client/examples');
const PAGE = '<!doctype html><link rel="icon" href="data:,"><script src="/client.js"></script>';
const POLICY =
  "default-src 'none'; script-src 'self'; worker-src 'self'; img-src data:; connect-src http://127.0.0.1:* ws://127.0.0.1:*";
const SIGNER = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A';

test('streams in a page', needsBrowser(), async (t) => {
  t.teardown(() => stop());
  const browser = await launchBrowser(t);
  const script = (text: string) => ({ type: 'text/javascript', text });
  const files = {
    '/': { type: 'text/html', text: PAGE },
    '/client.js': script(await bundle(join(ROOT, 'dist/src/client/index.js'), 'iife')),
    '/worker.js': script(await bundle(join(ROOT, 'dist/src/client/verify/verify_worker.js'), 'iife')),
    [`/${EXAMPLE}.html`]: {
      type: 'text/html',
      text: readFileSync(join(EXAMPLES, `${EXAMPLE}.html`), 'utf8'),
    },
    [`/${EXAMPLE}.js`]: script(await bundle(join(EXAMPLES, `${EXAMPLE}.ts`), 'esm')),
  };
  const origin = await serveFiles(t, files, POLICY);
  const service = await startTestService(t, { listen: { port: 0, allowed_origins: [origin] } });
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(61_000) });
  const page = await browser.newPage();
  await page.goto(origin);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  const options = { urls: service.url, token: TOKEN, signers: [SIGNER], worker: '/worker.js' };

  await t.test('many are verified in a worker', async (t) => {
    const reading = runInPage(
      page,
      `${OPEN} return read(client.stream(['BTCUSD'], { channel: '10ms' }), 400);`,
      options,
    );
    await eventually(() => page.workers().length === 1);
    await feed.accept({ symbol: 'BTCUSD', price: units(61_001) });
    t.match(await reading, { decimal: '61001', verdict: 'verified', signer: SIGNER });
    await eventually(() => page.workers().length === 0);
  });

  await t.test('prices of another key are errors', async (t) => {
    const error = await runInPage(
      page,
      `${OPEN}
      const next = client.stream(['BTCUSD'], { channel: '10ms' }).next();
      const error = await new Promise((resolve) => client.on('error', resolve));
      await client.close();
      return { name: error.name, symbols: error.symbols, done: (await next).done };`,
      { ...options, signers: [`0x${'1'.repeat(40)}`], ids: { BTCUSD: 1 } },
    );
    t.match(error, { name: 'UnverifiedError', symbols: ['BTCUSD'], done: true });
  });

  await t.test('the page of the example shows a verified price', async () => {
    const parameters = new URLSearchParams({ url: service.url, token: TOKEN, signer: SIGNER });
    await page.goto(`${origin}/${EXAMPLE}.html#${parameters}`);
    await page.getByText('BTCUSD 61001 verified').waitFor();
  });
  t.same(problems, []);
});

/** The script that opens a client, reads some ticks, and closes the client. */
const OPEN = `
  const client = tickseal.createClient(args);
  const read = async (stream, count) => {
    let last;
    for await (last of stream) if ((count -= 1) === 0) break;
    await client.close();
    return { decimal: last.decimal, verdict: last.verdict, signer: last.signer };
  };`;

async function bundle(entry: string, format: 'iife' | 'esm'): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    format,
    globalName: 'tickseal',
    platform: 'browser',
    target: 'es2022',
    write: false,
    absWorkingDir: ROOT,
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
}
