import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Test, test } from 'tap';
import { startTestService, TOKEN } from '../service/harness.js';

const MAIN = fileURLToPath(new URL('../../bench/load/main.js', import.meta.url));
const READERS = 50;
const ASSETS = [1, 2, 3].map((id) => ({ id, symbol: `ASSET${id}` }));

/** Returns the options of a load with publishers. */
function publish(updatesPerSecond: number): string[] {
  return ['--publish', String(updatesPerSecond), '--key-file', 'key', '--oracle-id', 'tests'];
}

interface Total {
  readonly kinds: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly server: Readonly<Record<string, number>>;
}

/** Runs `npm run load` with the options of a small load. */
async function runLoad(
  t: Test,
  url: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ output: string; code: number; result: { readonly total: Total } | null }> {
  const folder = t.testdir({ token: TOKEN, key: '101'.padStart(64, '0') });
  const json = join(folder, 'result.json');
  const common = ['--url', url, '--token-file', join(folder, 'token'), '--readers', String(READERS)];
  const options = ['--processes', '1', '--assets', '3', '--for', '2s', '--warm-up', '500ms', '--json', json];
  const child = spawn(process.execPath, [MAIN, ...common, ...options, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    cwd: folder,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => {
      output += text;
    });
  const [code] = (await once(child, 'close')) as [number];
  return { output, code, result: existsSync(json) ? JSON.parse(readFileSync(json, 'utf8')) : null };
}

for (const threads of [1, 2])
  test(`readers, a publisher and requests load a service, and the result says what they saw, ${threads} threads`, async (t) => {
    const service = await startTestService(t, { assets: ASSETS, listen: { port: 0, threads } });
    const load = [...publish(200), '--rest', '20'];
    const more = [
      '--admin',
      service.adminUrl,
      '--max-p99',
      '60s',
      '--max-own-p99',
      '60s',
      '--max-rest-p99',
      '60s',
    ];
    const { output, code, result } = await runLoad(t, service.socketUrl, [...load, ...more]);
    t.equal(code, 0, output);
    const { kinds, server } = result!.total;
    const { readers, publisher, requests } = kinds;
    t.ok(readers!['frames']! > READERS, `${readers!['frames']} frames`);
    t.same([readers!['closed'], publisher!['refused'], requests!['refused']], [0, 0, 0]);
    t.ok(publisher!['done']! > 50, `${publisher!['done']} of ${publisher!['sent']} updates were seen`);
    t.ok(requests!['done']! > 10, `${requests!['done']} answers`);
    t.ok(readers!['p99Ms']! > 0 && publisher!['p99Ms']! > 0 && requests!['p99Ms']! > 0);
    t.ok(server['cores']! > 0 && server['residentBytes']! > 1e6);
  });

test('a publisher with a Stark key, and a limit of the service as the knee', async (t) => {
  const assets = ASSETS.map((asset) => ({ ...asset, signature_type: 'stark' }));
  const limits = { connections_per_token: READERS + 10 };
  const service = await startTestService(t, { assets, limits });
  // A busy machine verifies few Stark signatures a second.
  const args = [...publish(20), '--signature-type', 'stark', '--max-own-p99', '60s'];
  const { output, code, result } = await runLoad(t, service.socketUrl, [...args, '--find-limit', 'readers']);
  t.equal(code, 0, output);
  const { publisher } = result!.total.kinds;
  t.ok(publisher!['sent']! > 0 && publisher!['done'] === publisher!['sent'], 'every update was seen');
  t.match(output, /broken: \/ws.*: HTTP\/1\.1 429 Too Many Requests/);
  t.match(output, /The knee: all bounds hold with --readers \d+, and not with --readers \d+\./);
});

test('a subscription that the service refuses, and an admin listener that is not there, end the load', async (t) => {
  const limits = { subscriptions_per_connection: 2 };
  const service = await startTestService(t, { assets: ASSETS, limits });
  const refused = await runLoad(t, service.socketUrl, []);
  t.match(refused, { code: 1, output: /a subscription was refused: \{"type":"error"/ });
  const admin = ['--assets', '2', '--admin', service.url];
  t.match(await runLoad(t, service.socketUrl, admin), {
    code: 1,
    output: /--admin .* does not answer with metrics/,
  });
});

test('a service that refuses the token, and one that is not there, are named', async (t) => {
  const service = await startTestService(t, { assets: ASSETS });
  const url = service.socketUrl;
  const refused = await runLoad(t, url, ['--token-file', 'key']);
  t.match(refused, { code: 1, output: /taxonomy cannot be read: 401/ });
  await service.stop();
  t.match(await runLoad(t, url, []), { code: 1, output: /taxonomy cannot be read: .*ECONNREFUSED/ });
});
