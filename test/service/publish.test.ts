import { once } from 'node:events';
import { test } from 'tap';
import { writeExactJson } from '../../src/client/index.js';
import { distinctNowNs } from './feed.js';
import { publisherSigner, startTestService } from './harness.js';
import { latestWhen, openPublisher, publish, UNIT } from './publishing.js';

// Tests of publisher sockets on a running service. test/prices tests each check of an update, test/fire the tokens, and
// message_documents.test.ts the answers.

const messageOf = (traceId: unknown, data: unknown) =>
  writeExactJson({ type: 'signed_prices', trace_id: traceId, data });

test('a publisher that never reads is neither closed nor slowed', async (t) => {
  const service = await startTestService(t, {
    limits: { idle_timeout: '8s', publish_bytes_per_second: '64 MiB' },
  });
  const silent = await openPublisher(service);
  silent.ws.pause();
  // Each answer repeats the 80 KB of names in its message. The answers have 24 MB in total, which is more than the system's
  // buffers hold.
  const data = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`${i}`.padEnd(10_000, 'x'), {}]));
  const noise = JSON.stringify({ type: 'signed_prices', trace_id: 'noise', data });
  for (let i = 0; i < 300; i++) silent.send(noise);
  const sign = (n: number, price: bigint) =>
    publisherSigner(n).sign({ symbol: 'BTCUSD', price, timestampNs: distinctNowNs() });
  silent.send(messageOf('last', { BTCUSD: sign(1, 7n * UNIT) }));
  const { price } = await latestWhen(service, 'BTCUSD');
  t.equal(price, `${7n * UNIT}`, 'what it sends still counts');
  const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
  const dropped = Number(/^tickseal_publisher_replies_dropped_total (\d+)$/m.exec(metrics)?.[1]);
  t.ok(dropped > 100, `${dropped} of 300 replies are dropped, so that they take no memory`);
  const { accepted } = await publish(await openPublisher(service), [sign(2, UNIT)]);
  t.same(accepted, ['BTCUSD']);
  silent.ws.resume();
  const closed = once(silent.ws, 'close');
  silent.ws.terminate();
  await closed;
});
