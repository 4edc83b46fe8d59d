import { test } from 'tap';
import { type PriceUpdate, writeExactJson } from '../../src/client/index.js';
import { FakeClock } from '../clock/fake_clock.js';
import { namedToken, publisherSigner, startTestService, TestSocket, TOKEN } from '../service/harness.js';
import { altered, openPublisher, publish, refusalOf, UNIT } from '../service/publishing.js';

const LIMIT = 20;
const SYMBOLS = Array.from({ length: 60 }, (_, i) => `ASSET${i}`);

interface Signing {
  readonly publisher?: number;
  /** The time of the signature. Default: now. */
  readonly timestampNs?: bigint;
}

function signed(
  symbol: string,
  { publisher = 1, timestampNs = BigInt(Date.now()) * 1_000_000n }: Signing = {},
): PriceUpdate {
  return publisherSigner(publisher).sign({ symbol, price: UNIT, timestampNs });
}

/** Returns an update that passes all checks except the curve arithmetic. */
function forged(symbol: string, signing: Signing = {}): PriceUpdate {
  const other = signed(symbol, { ...signing, publisher: 2 });
  return altered(signed(symbol, signing), { r: other.signed_price.timestamped_signature.signature.r });
}

test('a flood of bad signatures is answered, counted and throttled, and affects no other token', async (t) => {
  const service = await startTestService(t, {
    assets: SYMBOLS.map((symbol, id) => ({ id, symbol })),
    tokens: [TOKEN, 'healthy'].map((token) => namedToken(token)),
    limits: { bad_signatures_per_second: LIMIT },
  });
  const flood = await openPublisher(service);
  const healthy = await openPublisher(service, 'evm', { query: '?ack=true', token: 'healthy' });
  t.equal(await refusalOf(flood, signed('ASSET0')), undefined, 'good before');
  t.match(await publish(flood, [forged('ASSET1')]), { rejected: { ASSET1: /not by publisher_key/ } });

  const startMs = Date.now();
  const reasons: string[] = [];
  for (let i = 0; i < 10; i++) {
    const answer = await publish(
      flood,
      SYMBOLS.map((symbol) => forged(symbol)),
    );
    reasons.push(...Object.values(answer.rejected));
  }
  // The first message is verified completely. After that, the limit per second applies to the token.
  const verifiedMax = SYMBOLS.length + LIMIT * (2 + Math.ceil((Date.now() - startMs) / 1000));
  const verified = reasons.filter((reason) => /not by publisher_key/.test(reason)).length;
  const throttled = reasons.filter((reason) => /too many bad signatures/.test(reason)).length;
  t.equal(verified + throttled, 10 * SYMBOLS.length, 'every update is answered');
  t.ok(verified <= verifiedMax && throttled > 0, `${verified} verified, ${throttled} throttled`);

  const { accepted, rejected } = await publish(
    healthy,
    SYMBOLS.slice(1).map((symbol) => signed(symbol)),
  );
  t.equal(accepted.length, SYMBOLS.length - 1, JSON.stringify(rejected));
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
  t.match(metrics, new RegExp(`rejected_total\\{reason="too many bad signatures[^}]*\\} ${throttled}$`, 'm'));
});

test('a short message counts as 512 bytes, since handling it takes as long', async (t) => {
  const clock = new FakeClock();
  const limits = { publish_message_bytes: '2 KiB', publish_bytes_per_second: '2 KiB' };
  const service = await startTestService(t, { limits }, { clock });
  const publisher = await openPublisher(service);
  const empty = { type: 'signed_prices', data: {} };
  for (let i = 0; i < 4; i++) {
    publisher.send(empty);
    t.match(await publisher.nextJson(), { type: 'ack' });
  }
  publisher.send(empty);
  t.match(await publisher.nextJson(), { error: /more than publish_bytes_per_second \(2048\): not read/ });
});

test('who was closed for bad messages cannot connect again before the next is allowed', async (t) => {
  const clock = new FakeClock();
  const service = await startTestService(t, { limits: { bad_messages_per_second: 2 } }, { clock });
  const socket = await openPublisher(service);
  for (let i = 1; i <= 3; i++) socket.send('junk');
  t.equal((await socket.closed).code, 1008);
  await t.rejects(openPublisher(service), { message: /^429 .*more than bad_messages_per_second messages/ });
  const reader = await TestSocket.open(`${service.socketUrl}/ws`);
  await reader.close();
  clock.advanceMs(1_000);
  await openPublisher(service);
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
  t.match(metrics, /^tickseal_budget_refusals_total\{limit="bad_messages_per_second",caller="all"\} 2$/m);
});

test('long messages are not read while bad signatures are used up, and are again when signatures are verified', async (t) => {
  const clock = new FakeClock();
  const service = await startTestService(
    t,
    {
      assets: SYMBOLS.map((symbol, id) => ({ id, symbol })),
      limits: { bad_signatures_per_second: LIMIT },
    },
    { clock },
  );
  const publisher = await openPublisher(service);
  const long = (updates: PriceUpdate[]) => {
    const data = Object.fromEntries(updates.map((update) => [update.asset_id, update]));
    publisher.send(writeExactJson({ type: 'signed_prices', data }).padEnd(65 * 1024));
    return publisher.nextJson();
  };
  const at = () => ({ timestampNs: clock.nowNs() });
  t.match(await long(SYMBOLS.map((symbol) => forged(symbol, at()))), {
    rejected: { ASSET0: /not by publisher_key/ },
  });
  const refusal = { type: 'error', error: 'too many bad signatures of this token or key: not read' };
  t.same(await long([signed('ASSET1', at())]), refusal);
  t.match(
    await publish(publisher, [signed('ASSET1', at())]),
    { rejected: { ASSET1: /not verified/ } },
    'a short one is read',
  );
  clock.advanceMs(1_000);
  t.match(await long([signed('ASSET1', at())]), { accepted: ['ASSET1'] });
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
  t.match(metrics, /rejected_total\{reason="too many bad signatures of this token or key: not read"\} 1$/m);
});
