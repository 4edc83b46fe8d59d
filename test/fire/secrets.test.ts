import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'tap';
import { ServeProcess, writeConfig } from '../service/child.js';
import { Feed, units } from '../service/feed.js';
import { get, SERVICE_KEYS, sha256, TestSocket, TOKEN } from '../service/harness.js';

const WRONG_TOKEN = 'a-token-that-nobody-has';

test('no token and no key is in a log, an error, a metric or an answer of a full run', async (t) => {
  const dir = t.testdir();
  const file = writeConfig(dir);
  const valid = readFileSync(file, 'utf8');
  process.env['TICKSEAL_LOG_LEVEL'] = 'trace';
  t.teardown(() => delete process.env['TICKSEAL_LOG_LEVEL']);
  const service = new ServeProcess(['--config', file]);
  t.teardown(() => service.kill());
  const { url, socketUrl, adminUrl } = await service.ready();
  const seen: string[] = [];
  const keep = async (response: Promise<Response>) => {
    const { status, headers, body } = await response.then(async (one) => ({
      status: one.status,
      headers: JSON.stringify([...one.headers]),
      body: await one.text(),
    }));
    seen.push(`${status} ${headers} ${body}`);
  };

  const wrong = { Authorization: `Basic ${WRONG_TOKEN}` };
  for (const path of [
    '/v1/prices/assets',
    '/v1/prices/latest?assets=BTCUSD',
    '/v1/algorithms',
    `/${TOKEN}`,
    `/v1/prices/latest?assets=${TOKEN}`,
  ]) {
    if (!path.includes(TOKEN)) await keep(get(`${url}${path}`));
    else await get(`${url}${path}`);
    await keep(fetch(`${url}${path.replaceAll(TOKEN, 'x')}`, { headers: wrong }));
  }
  await TestSocket.open(`${socketUrl}/ws`, WRONG_TOKEN).catch((error: Error) => seen.push(error.message));
  const stream = await TestSocket.open(`${socketUrl}/ws`);
  stream.send('{ no JSON');
  seen.push(await stream.next());
  const feed = await Feed.open({ socketUrl });
  await feed.accept({ symbol: 'BTCUSD', price: units(1) });
  feed.socket.send('{"type":"signed_prices","data":{"BTCUSD":{}}}');
  seen.push(await feed.socket.next());

  // Reloads: a key that others can read, a key that is none, an unknown key with a secret as its value, and a good one.
  for (const bad of [
    valid.replace('"evm.hex"', '"config.json"'),
    valid.replace(
      '"oracle_id":"tests"',
      `"oracle_id":"tests","secret":"${SERVICE_KEYS.evm.toString('hex')}"`,
    ),
    `{${valid}`,
  ]) {
    const before = service.stdout.split('not valid').length;
    writeFileSync(file, bad, { mode: 0o600 });
    service.child.kill('SIGHUP');
    while (service.stdout.split('not valid').length === before)
      await new Promise((resolve) => setTimeout(resolve, 5));
  }
  writeFileSync(file, valid);
  service.child.kill('SIGHUP');
  await service.line(/was read again/);
  for (const path of ['metrics', 'readyz', 'livez']) await keep(get(`${adminUrl}/${path}`));
  service.child.kill('SIGTERM');
  t.equal((await service.exited).code, 0);

  const all = [...seen, service.stdout, service.stderr].join('\n');
  t.ok(service.stdout.includes('not valid') && seen.length > 10, 'there is something to look through');
  const secrets = {
    token: TOKEN,
    'wrong token': WRONG_TOKEN,
    "token's hash": sha256(TOKEN),
    'EVM key': SERVICE_KEYS.evm.toString('hex'),
    'Stark key': SERVICE_KEYS.stark.toString('hex'),
  };
  for (const [name, secret] of Object.entries(secrets)) t.notOk(all.toLowerCase().includes(secret), name);
});
