import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build, stop } from 'esbuild';
import { test } from 'tap';
import { launchBrowser, needsBrowser } from '../../browser/browser.js';
import { ROOT } from '../../pages.js';
import { publisherSigner, startTestService, TOKEN } from '../../service/harness.js';
import { openPublisher, publish, UNIT } from '../../service/publishing.js';

const NAME = 'browser_page';
const FOLDER = join(ROOT, 'src/client/examples');

test('the page of the example shows a verified price', needsBrowser(), async (t) => {
  t.teardown(() => stop());
  const { outputFiles } = await build({
    entryPoints: [join(FOLDER, `${NAME}.ts`)],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    absWorkingDir: ROOT,
  });
  const files: Readonly<Record<string, readonly [type: string, text: string]>> = {
    [`/${NAME}.html`]: ['text/html; charset=utf-8', readFileSync(join(FOLDER, `${NAME}.html`), 'utf8')],
    [`/${NAME}.js`]: ['text/javascript; charset=utf-8', outputFiles[0]!.text],
  };
  const server = createServer((request, response) => {
    const [type, text] = files[request.url!] ?? ['text/plain', ''];
    response.setHeader('Content-Type', type).end(text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const service = await startTestService(t, { listen: { port: 0, allowed_origins: [origin] } });
  const socket = await openPublisher(service);
  t.teardown(() => socket.ws.terminate());
  const timestampNs = BigInt(Date.now()) * 1_000_000n;
  await publish(socket, [publisherSigner(1).sign({ symbol: 'BTCUSD', price: 100n * UNIT, timestampNs })]);

  const page = await (await launchBrowser(t)).newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  const parameters = new URLSearchParams({ url: service.url, token: TOKEN, signer: service.evmAddress });
  await page.goto(`${origin}/${NAME}.html#${parameters}`);
  await page.getByText('BTCUSD 100 verified').waitFor();
  t.same(faults, []);
});
