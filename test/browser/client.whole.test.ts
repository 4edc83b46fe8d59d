import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build, stop } from 'esbuild';
import { type Test, test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { ROOT } from '../pages.js';
import { Feed, units } from '../service/feed.js';
import { startTestService, TOKEN } from '../service/harness.js';
import { launchBrowser, needsBrowser, runInPage } from './browser.js';

// Tests of the client in a real browser. The page has another origin, and its policy allows only its own files.

const SIGNER = '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A';

test('streams in a page', needsBrowser(), async (t) => {
  t.teardown(() => stop());
  const browser = await launchBrowser(t);
  const origin = await serveClient(t);
  const service = await startTestService(t, { listen: { port: 0, allowed_origins: [origin] } });
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(61_000) });
  const page = await browser.newPage();
  await page.goto(origin);
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  const options = { urls: service.url, token: TOKEN, signers: [SIGNER], worker: '/worker.js' };

  await t.test('few payloads are verified on the page’s own thread', async (t) => {
    const tick = await runInPage(
      page,
      `${OPEN} return read(client.stream(['BTCUSD'], { channel: '1s' }), 1);`,
      options,
    );
    t.match(tick, { decimal: '61000', verdict: 'verified', signer: SIGNER });
    t.equal(page.workers().length, 0);
  });

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
    const errorWith = (more: object) =>
      runInPage(
        page,
        `${OPEN}
      const next = client.stream(['BTCUSD'], { channel: '10ms' }).next();
      const error = await new Promise((resolve) => client.on('error', resolve));
      await client.close();
      return { name: error.name, symbols: error.symbols, signer: error.signer, done: (await next).done };`,
        { ...options, ...more, signers: [`0x${'1'.repeat(40)}`] },
      );
    t.match(await errorWith({}), { name: 'UnsignedMappingError', signer: SIGNER, done: true });
    const pinned = { ids: { BTCUSD: 1 } };
    t.match(await errorWith(pinned), { name: 'UnverifiedError', symbols: ['BTCUSD'], done: true });
  });

  await t.test('aggregates are verified, and a page cannot publish', async (t) => {
    const latest = await runInPage(
      page,
      `${OPEN}
      const { BTCUSD } = await client.latest(['BTCUSD']);
      let refusal;
      try { client.publisher({ key: '1', oracleId: 'tests' }); } catch (error) { refusal = error.message; }
      return { decimal: BTCUSD.decimal, verdict: BTCUSD.verdict, refusal };`,
      options,
    );
    t.match(latest, { decimal: '61001', verdict: 'verified', refusal: /a browser cannot publish/ });
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

/** Serves a page with the bundled client and its worker. @returns its origin */
async function serveClient(t: Test): Promise<string> {
  const files: Readonly<Record<string, { readonly type: string; readonly text: string }>> = {
    '/': {
      type: 'text/html',
      text: '<!doctype html><link rel="icon" href="data:,"><script src="/client.js"></script>',
    },
    '/client.js': { type: 'text/javascript', text: await bundle('index.js', 'tickseal') },
    '/worker.js': { type: 'text/javascript', text: await bundle('verify/verify_worker.js') },
  };
  const server = createServer((request, response) => {
    const file = files[request.url ?? ''];
    if (file === undefined) {
      response.writeHead(404).end();
      return;
    }
    response.setHeader('Content-Type', file.type);
    response.setHeader(
      'Content-Security-Policy',
      "default-src 'none'; script-src 'self'; worker-src 'self'; img-src data:; connect-src http://127.0.0.1:* ws://127.0.0.1:*",
    );
    response.end(file.text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function bundle(name: string, globalName?: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, 'dist/src/client', name)],
    bundle: true,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
    ...(globalName !== undefined && { globalName }),
  });
  return outputFiles[0]!.text;
}
