import { type Test, test } from 'tap';
import { Feed, units } from '../service/feed.js';
import { startTestService, type TestService, TOKEN } from '../service/harness.js';
import { freePort, skipWithout, startNginx } from './running_proxies.js';

// Tests that a shared cache in front of the service gives no answer to a caller without a token.

/** Starts nginx with a cache for every answer of the service. @returns its URL */
async function startCache(t: Test, service: TestService): Promise<string> {
  const url = `http://127.0.0.1:${await freePort()}`;
  await startNginx(
    t,
    url,
    `proxy_cache_path DIR/cache keys_zone=all:1m;
    proxy_cache all;
    proxy_cache_valid any 60s;
    server {
      listen ${url.replace('http://', '')};
      add_header X-Cache $upstream_cache_status always;
      location / { proxy_pass ${service.url}; proxy_http_version 1.1; }
    }`,
  );
  return url;
}

test('a cache that keeps every answer asks the service again for a second caller', {
  skip: skipWithout('nginx'),
}, async (t) => {
  const service = await startTestService(t);
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(65_000) });
  const url = await startCache(t, service);
  const nowNs = BigInt(Date.now()) * 1_000_000n;
  const ask = async (path: string, token?: string) => {
    const headers = token === undefined ? {} : { Authorization: `Basic ${token}` };
    const { status, headers: answered } = await fetch(url + path, { headers });
    return [status, answered.get('x-cache')];
  };
  for (const path of [
    '/v1/prices/assets',
    '/v1/prices/latest?assets=BTCUSD',
    `/v1/prices/range?asset=BTCUSD&from=${nowNs}&to=${nowNs}`,
    '/v1/taxonomy',
    '/v1/algorithms',
    '/v1/stream_ticket',
    '/udf/config',
  ]) {
    t.same(await ask(path, TOKEN), [200, 'MISS'], path);
    t.same(await ask(path), [401, 'MISS'], path);
    t.same(await ask(path, TOKEN), [200, 'MISS'], `${path}: neither is the refusal kept`);
  }
  await ask('/v1/deployments/evm');
  t.same(await ask('/v1/deployments/evm'), [200, 'HIT'], 'the cache keeps answers that need no token');
});
