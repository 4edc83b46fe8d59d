import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { writeExactJson } from '../../src/client/index.js';
import { createToken } from '../../src/config/token_hash.js';
import { ServeProcess, writeConfig } from '../service/child.js';
import { Feed, units } from '../service/feed.js';
import { sha256, TestSocket } from '../service/harness.js';
import { secretsIn, writingsOf, writingsOfToken } from './secret_texts.js';

const TOKEN = createToken();
const WRONG_TOKEN = createToken();
/**
 * Keys below 2^248, so that the keys are within the orders of both curves. The keys contain no zero byte, because a text
 * could leave such a byte out.
 */
const KEYS = { evm: randomKey(), stark: randomKey() };

function randomKey(): Buffer {
  return Buffer.concat([Buffer.from([0]), randomBytes(31).map((byte) => byte || 1)]);
}

const WRITINGS = [
  ...writingsOfToken(TOKEN),
  ...writingsOfToken(WRONG_TOKEN),
  ...writingsOf(Buffer.from(sha256(TOKEN), 'hex')),
  ...writingsOf(KEYS.evm),
  ...writingsOf(KEYS.stark),
];

test('no log, error, metric or answer of a full run contains a token or a key', async (t) => {
  const dir = t.testdir();
  const tokens = [{ name: 'all', sha256: sha256(TOKEN), scopes: ['rest', 'stream', 'publish'] }];
  const file = writeConfig(dir, { tokens });
  const valid = readFileSync(file, 'utf8');
  for (const type of ['evm', 'stark'] as const)
    writeFileSync(join(dir, `${type}.hex`), `0x${KEYS[type].toString('hex')}`);
  const service = new ServeProcess(['--config', file], { TICKSEAL_LOG_LEVEL: 'trace' });
  t.teardown(() => service.kill());
  const { url, socketUrl, adminUrl } = await service.ready();
  const seen: string[] = [];
  const ask = async (address: string, token?: string) => {
    const headers = token === undefined ? {} : { Authorization: `Basic ${token}` };
    const response = await fetch(address, { headers });
    seen.push(`${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`);
  };

  const answer = await fetch(`${url}/v1/stream_ticket`, { headers: { Authorization: `Basic ${TOKEN}` } });
  const { ticket } = ((await answer.json()) as { data: { ticket: string } }).data;
  const openByTicket = () =>
    TestSocket.open(`${socketUrl}/ws`, null, {}, ['tickseal.v1', `ticket.${ticket}`]);
  await openByTicket();
  await openByTicket().catch((error: Error) => seen.push(error.message));
  await fetch(`${url}/${ticket}?ticket=${ticket}`);

  for (const path of ['/v1/prices/assets', '/v1/prices/latest?assets=BTCUSD', '/udf/config', '/nope']) {
    await ask(`${url}${path}`);
    await ask(`${url}${path}`, TOKEN);
    await ask(`${url}${path}`, WRONG_TOKEN);
  }
  // The service may return a secret to a client that sends it in the wrong place, but must not log the secret.
  for (const path of [`/${TOKEN}`, `/v1/prices/latest?assets=${TOKEN}`, `/v1/taxonomy?token=${TOKEN}`])
    await fetch(url + path, { headers: { Authorization: `Bearer ${TOKEN}` } });
  await TestSocket.open(`${socketUrl}/ws`, WRONG_TOKEN).catch((error: Error) => seen.push(error.message));
  const stream = await TestSocket.open(`${socketUrl}/ws`, TOKEN);
  for (const text of ['{ no JSON', `{"type":"${TOKEN}"}`, `{"type":"subscribe","assets":["${TOKEN}"]}`]) {
    stream.send(text);
    seen.push(await stream.next());
  }
  const feed = await Feed.open({ socketUrl }, { token: TOKEN });
  await feed.accept({ symbol: 'BTCUSD', price: units(1) });
  const update = feed.sign({ symbol: 'BTCUSD', price: units(2) });
  for (const data of [{ BTCUSD: {} }, { [TOKEN]: update }, { BTCUSD: { ...update, signed_price: TOKEN } }]) {
    feed.socket.send(writeExactJson({ type: 'signed_prices', trace_id: TOKEN, data }));
    await feed.socket.next();
  }

  // secrets_in_errors.whole.test.ts tests every error of a configuration; a reload logs the same errors.
  for (const [text, wanted] of [
    [`${valid} ${KEYS.evm.toString('hex')}`, /not valid/],
    [valid, /was read again/],
  ] as const) {
    writeFileSync(file, text, { mode: 0o600 });
    service.child.kill('SIGHUP');
    await service.line(wanted);
  }
  for (const path of ['metrics', 'readyz', 'livez']) await ask(`${adminUrl}/${path}`, TOKEN);
  service.child.kill('SIGTERM');
  t.equal((await service.exited).code, 0);

  t.ok(seen.length > 15, 'there is something to look through');
  const writings = [...WRITINGS, ...writingsOfToken(ticket)];
  t.same(secretsIn([...seen, service.stdout, service.stderr].join('\n'), writings), []);
});
