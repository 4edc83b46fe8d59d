import { test } from 'tap';
import { WebSocket } from 'ws';
import { Publisher, type PublisherOptions } from '../../../src/client/prices/publisher.js';
import { createPriceSigner } from '../../../src/client/sign/sign_price.js';
import { type ContractServer, startContractServer, TOKEN } from '../contract_server.js';
import { FakeSchedule } from '../fake_schedule.js';

const signer = createPriceSigner({
  signatureType: 'evm',
  secretKey: new Uint8Array(32).fill(9),
  oracleId: 'simul',
});
const update = (symbol: string) => signer.sign({ symbol, price: 5n, timestampNs: 1757543080505451011n });

function publisherOf(server: ContractServer, options: Partial<PublisherOptions>): Publisher {
  return new Publisher({
    url: server.url,
    token: TOKEN,
    signatureType: 'evm',
    openSocket: (url, headers) => new WebSocket(url, { headers: { ...headers } }),
    ...options,
  });
}

test('answers find their messages by trace_id', async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  server.rejects['ETHUSD'] = 'timestamp is too old';
  const fake = new FakeSchedule();
  const publisher = publisherOf(server, { ack: 'durable', schedule: fake.schedule });
  await publisher.opened();
  const [both, one] = await Promise.all([
    publisher.publish([update('BTCUSD'), update('ETHUSD')]),
    publisher.publish([update('BTCUSD')]),
  ]);
  t.match(both, { status: 'answered', accepted: ['BTCUSD'], rejected: { ETHUSD: 'timestamp is too old' } });
  t.match(one, { status: 'answered', accepted: ['BTCUSD'], rejected: {} });
  t.not(both.traceId, one.traceId);
  t.same(server.paths, ['/evm/publish?ack=durable']);
  t.match(server.received[0], new RegExp(`"trace_id":"${both.traceId}".*"timestamp":1757543080505451011,`));
  t.notOk(
    fake.pending.some(({ delayMs }) => delayMs === 10_000),
    'no answer is waited for any more',
  );
  await publisher.close();
  t.match(await publisher.publish([update('BTCUSD')]), {
    status: 'failed',
    reason: 'there is no connection',
  });
});

test('a message that is not answered fails: by time, by loss, by a bad message', async (t) => {
  const server = await startContractServer();
  t.teardown(() => server.close());
  server.onSocket = (socket) => socket.removeAllListeners('message');
  const fake = new FakeSchedule();
  const publisher = publisherOf(server, { ack: 'true', schedule: fake.schedule });
  await publisher.opened();
  const late = publisher.publish([update('BTCUSD')]);
  fake.pending.pop()!.run();
  t.match(await late, { status: 'failed', reason: 'no answer within 10000 ms' });

  const bad = publisher.forward('bad', 'bad');
  t.match(
    await publisher.forward('bad', 'bad'),
    { status: 'failed', reason: /not answered yet/ },
    'one trace_id once',
  );
  // Messages that are not replies do not settle a sent message. Neither does a rejection before the answer.
  for (const text of ['junk', 'null', '{"type":"other"}', '{"type":"error"}']) server.broadcast(text);
  server.broadcast('{"type":"error","trace_id":"bad","error":"x","rejected":{"BTCUSD":"y"}}');
  server.broadcast('{"type":"error","trace_id":"bad","error":"not JSON"}');
  t.match(await bad, { status: 'failed', reason: 'not JSON' });

  const lost = publisher.publish([update('BTCUSD')]);
  for (const socket of server.sockets) socket.close(1001, 'draining');
  t.match(await lost, { status: 'failed', reason: 'closed with 1001 (draining)' });
  await publisher.close();
});
