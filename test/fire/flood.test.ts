import { test } from 'tap';
import { type PriceUpdate, writeExactJson } from '../../src/client/index.js';
import { publisherSigner, startTestService, TestSocket } from '../service/harness.js';
import { altered, openPublisher, publish, refusalOf, UNIT } from '../service/publishing.js';

const LIMIT = 20;
const SYMBOLS = Array.from({ length: 60 }, (_, i) => `ASSET${i}`);

function signed(symbol: string, publisher = 1): PriceUpdate {
  return publisherSigner(publisher).sign({
    symbol,
    price: UNIT,
    timestampNs: BigInt(Date.now()) * 1_000_000n,
  });
}

/** Right in every check but the curve arithmetic. */
function forged(symbol: string): PriceUpdate {
  return altered(signed(symbol), { r: signed(symbol, 2).signed_price.timestamped_signature.signature.r });
}

test('a flood of bad signatures is answered, counted and throttled, and affects no other connection', async (t) => {
  const service = await startTestService({
    assets: SYMBOLS.map((symbol, id) => ({ id, symbol })),
    limits: { bad_signatures_per_second: LIMIT },
  });
  t.teardown(() => service.stop());
  const [flood, healthy] = [await openPublisher(service), await openPublisher(service)];
  t.equal(await refusalOf(flood, signed('ASSET0')), undefined, 'good before');
  t.match(await publish(flood, [forged('ASSET1')]), { rejected: { ASSET1: /not by publisher_key/ } });

  const startMs = Date.now();
  const answers = [];
  for (let i = 0; i < 10; i++) answers.push(await publish(flood, SYMBOLS.map(forged)));
  // The first message is verified whole; from then on the connection gets the limit for each second.
  const verifiedMax = SYMBOLS.length + LIMIT * (2 + Math.ceil((Date.now() - startMs) / 1000));
  const reasons = answers.flatMap(({ rejected }) => Object.values(rejected));
  t.equal(reasons.length, 10 * SYMBOLS.length, 'every update is answered');
  const verified = reasons.filter((reason) => /not by publisher_key/.test(reason)).length;
  const throttled = reasons.filter((reason) => /too many bad signatures/.test(reason)).length;
  t.equal(verified + throttled, reasons.length);
  t.ok(
    verified >= SYMBOLS.length - 1 && verified <= verifiedMax,
    `${verified} verified, ${throttled} throttled`,
  );
  t.ok(throttled > 0);

  const { accepted, rejected } = await publish(
    healthy,
    SYMBOLS.slice(1).map((symbol) => signed(symbol)),
  );
  t.equal(accepted.length, SYMBOLS.length - 1, JSON.stringify(rejected));
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
  t.match(metrics, new RegExp(`rejected_total\\{reason="too many bad signatures[^}]*\\} ${throttled}$`, 'm'));
});

test('messages over the limit are refused without verification', async (t) => {
  const service = await startTestService({ limits: { bad_signatures_per_second: 1 } });
  t.teardown(() => service.stop());
  const socket = await TestSocket.open(`${service.socketUrl}/evm/publish?ack=true`);
  for (let i = 0; i < 30; i++)
    socket.send(writeExactJson({ type: 'signed_prices', data: { BTCUSD: forged('BTCUSD') } }));
  const answers = await Promise.all(Array.from({ length: 30 }, () => socket.nextJson()));
  const throttled = answers.filter((answer) => JSON.stringify(answer).includes('too many bad'));
  t.ok(throttled.length >= 26, `${throttled.length} of 30 throttled`);
});
