import { get as httpGet } from 'node:http';
import { type Test, test } from 'tap';
import { eventually, pause } from '../../scripts/load/wait.js';
import { codeBlock } from '../pages.js';
import { get, startTestService, type TestService, TestSocket, TOKEN } from '../service/harness.js';
import { freePort, skipWithout, startNginx, startProxy } from './running_proxies.js';

// Tests of the service behind nginx and HAProxy, with the configurations of the operator's page.

const PAGE = 'scripts/deploy/README.md';
/** The timeouts of the proxies in these tests. The page has ten times as much. */
const TIMEOUT_S = 3;

/** Returns the status of a request with a wrong token, from another address than the proxy's. */
function wrongLogin(url: string, forwardedFor: string): Promise<number | undefined> {
  const headers = { Authorization: 'Basic wrong', 'X-Forwarded-For': forwardedFor };
  return new Promise((resolve, reject) => {
    httpGet(`${url}/v1/taxonomy`, { headers, localAddress: '127.0.0.5' }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    }).on('error', reject);
  });
}

/** Checks what clients notice of a proxy. The service pings more often than the proxy ends connections, as on the page. */
async function check(t: Test, begin: (service: TestService, port: number, url: string) => Promise<void>) {
  const listen = { ping_interval: '1s', trusted_proxies: ['127.0.0.1'] };
  const service = await startTestService(t, { listen, limits: { failed_logins_per_minute: 2 } });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await begin(service, port, url);
  await eventually(async () => (await fetch(`${url}/v1/deployments/evm`)).status === 200);
  t.equal((await get(`${url}/v1/taxonomy`)).status, 200);
  const statuses = [];
  for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3'])
    statuses.push(await wrongLogin(url, address));
  t.same(statuses, [401, 401, 429], 'the address that the proxy adds is the one that counts');
  const events = await get(`${url}/v1/stream?assets=BTCUSD`);
  t.equal(events.status, 200);
  await events.body?.cancel();
  const stream = await TestSocket.open(`${url.replace('http', 'ws')}/ws`, TOKEN);
  await pause(2 * TIMEOUT_S * 1_000 + 1_000);
  stream.send({ type: 'subscribe', assets: [1], id: 7 });
  t.match(await stream.nextJson(), { id: 7 }, 'a silent stream is still open');
  await stream.close();
  t.equal((await get(`${url}/v1/taxonomy`)).status, 200, 'a check of health keeps the service up');
}

test('nginx, as the page says', { skip: skipWithout('nginx') }, (t) =>
  check(t, async (service, port, url) => {
    const config = codeBlock(PAGE, 'nginx')
      .replace(/listen .*;/, `listen 127.0.0.1:${port};`)
      .replace(/^ *ssl_.*\n/gm, '')
      .replace('127.0.0.1:8080', `127.0.0.1:${service.port}`)
      .replace(/proxy_read_timeout \d+s/, `proxy_read_timeout ${TIMEOUT_S}s`);
    await startNginx(t, url, config);
  }),
);

test('HAProxy, as the page says', { skip: skipWithout('haproxy') }, (t) =>
  check(t, async (service, port, url) => {
    const config = codeBlock(PAGE, 'haproxy')
      .replace(/bind .*/, `bind 127.0.0.1:${port}`)
      .replace('127.0.0.1:8080', `127.0.0.1:${service.port}`)
      .replace('port 9090', `port ${service.adminPort} inter 200ms`)
      .replace(/timeout (client|server) \d+s/g, `timeout $1 ${TIMEOUT_S}s`);
    await startProxy(t, url, config, ['haproxy', '-db', '-f', 'DIR/config']);
  }),
);

test('a cache that keeps every answer asks the service again for a second caller', {
  skip: skipWithout('nginx'),
}, async (t) => {
  const service = await startTestService(t);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await startNginx(
    t,
    url,
    `proxy_cache_path DIR/cache keys_zone=all:1m;
    proxy_cache all;
    proxy_cache_valid any 60s;
    server {
      listen 127.0.0.1:${port};
      add_header X-Cache $upstream_cache_status always;
      location / { proxy_pass ${service.url}; proxy_http_version 1.1; }
    }`,
  );
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(url + path, { headers });
    return [response.status, response.headers.get('x-cache')];
  };
  const withToken = { Authorization: `Basic ${TOKEN}` };
  for (const path of ['/v1/prices/assets', '/v1/prices/latest?assets=BTCUSD', '/udf/config']) {
    t.same(await ask(path, withToken), [200, 'MISS'], path);
    t.same(await ask(path), [401, 'MISS'], path);
    t.same(await ask(path, withToken), [200, 'MISS'], `${path}: neither is the refusal kept`);
  }
  await ask('/v1/deployments/evm');
  t.same(await ask('/v1/deployments/evm'), [200, 'HIT'], 'the cache keeps answers that need no token');
});
