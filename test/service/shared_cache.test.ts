import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { eventually } from '../../scripts/load/wait.js';
import { claimPort } from '../../src/server/uws/port_claim.js';
import { isInstalled } from '../deploy/prometheus.js';
import { Feed, units } from './feed.js';
import { startTestService, type TestService, TOKEN } from './harness.js';

// Tests that a shared cache in front of the service gives no answer to a caller without a token.

const skip = !isInstalled('nginx') && process.env['CI'] !== 'true' && "no nginx: Debian's package nginx";

/** Starts nginx with a cache for every answer of the service. @returns its URL */
async function startNginx(t: Test, service: TestService): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'tickseal-nginx-'));
  const address = `127.0.0.1:${await claimPort({ host: '127.0.0.1', port: 0 })}`;
  const file = join(dir, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  writeFileSync(
    file,
    `daemon off;
    master_process off;
    pid ${dir}/pid;
    error_log ${dir}/errors;
    events {}
    http {
      access_log off;
      ${temporary.map((name) => `${name}_temp_path ${dir}/${name};`).join('\n')}
      proxy_cache_path ${dir}/cache keys_zone=all:1m;
      proxy_cache all;
      proxy_cache_valid any 60s;
      server {
        listen ${address};
        add_header X-Cache $upstream_cache_status always;
        location / { proxy_pass ${service.url}; proxy_http_version 1.1; }
      }
    }`,
  );
  const nginx = spawn('nginx', ['-p', dir, '-c', file, '-e', `${dir}/errors`], { stdio: 'inherit' });
  const ended = once(nginx, 'close');
  t.teardown(async () => {
    nginx.kill('SIGKILL');
    await ended;
    rmSync(dir, { recursive: true });
  });
  const url = `http://${address}`;
  await eventually(async () => (await fetch(url).catch(() => undefined)) !== undefined);
  return url;
}

test('a cache that keeps every answer asks the service again for a second caller', { skip }, async (t) => {
  const service = await startTestService();
  t.teardown(() => service.stop());
  const feed = await Feed.open(service);
  await feed.accept({ symbol: 'BTCUSD', price: units(65_000) });
  const url = await startNginx(t, service);
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
