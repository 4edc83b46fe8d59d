import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'tap';
import { LocalExchange } from '../../../scripts/load/local_exchange.js';
import { serve } from '../../local_server.js';
import { START } from '../plans.js';
import { manualRun } from './manual_run.js';
import { ManualTime, until } from './manual_time.js';

test('a list that is an error is read again within a minute, and a pair that joins it is subscribed', async (t) => {
  let answer: string = '{"code":-1003,"msg":"Too many requests"}';
  const lists: number[] = [];
  const time = new ManualTime();
  const address = await serve(t, (_, response) => {
    lists.push(Number((time.nowNs() - START) / 1_000_000_000n));
    response.end(answer);
  });
  const exchange = await LocalExchange.start(t, 'binance', ['BTC/USDT', 'NEW/USDT']);
  const definition = exchange.definition.replace(/pairs_url: "[^"]*"/, `pairs_url: "${address}/"`);
  const { run, warnings } = manualRun(
    t,
    `sources: { a: ${definition} }\nassets: { B: { from: [a BTC/USDT], min_sources: 1 }, N: { from: [a NEW/USDT], min_sources: 1 } }`,
    time,
  );
  t.same(await run.open(), [], 'no fault of the file');
  await until(() => exchange.asked.length === 2, 'all pairs are tried');
  const listOf = (...names: string[]) =>
    JSON.stringify({
      symbols: names.map((baseAsset) => ({ status: 'TRADING', baseAsset, quoteAsset: 'USDT' })),
    });
  answer = listOf('BTC');
  const passing = (isOver: () => boolean, subject: string) =>
    until(() => {
      exchange.heartbeat();
      time.advance(1_000);
      return isOver();
    }, subject);
  await passing(() => lists.length === 2, 'the second list');
  t.ok(lists[1]! <= 61, `after ${lists[1]} s`);
  await until(() => run.meter.sources.get('a')!.faults === 1, 'the pair that is missing');

  run.close();
  await until(() => !exchange.isConnected, 'the end of the first run');

  // Another run begins while the pair does not exist.
  const { run: second } = manualRun(
    t,
    `sources: { a: ${definition} }\nassets: { N: { from: [a NEW/USDT], min_sources: 1 } }`,
    time,
    { warn: (text) => warnings.push(text) },
  );
  t.match(await second.open(), [{ at: { pair: 'NEW/USDT' } }]);
  const { connections } = exchange;
  answer = listOf('BTC', 'NEW');
  await passing(() => exchange.connections > connections, 'a connection for the new pair');
  await passing(() => exchange.asked.filter((name) => name === 'NEWUSDT').length >= 2, 'its subscription');
  t.ok(warnings.includes('a: NEW/USDT trades now'), warnings.join('\n'));
  exchange.show('NEW/USDT', '1', '1.001', 0);
  await until(() => second.decisions()[0]!.price !== undefined, 'its price');
  t.equal(second.meter.sources.get('a')!.faults, 0);
});

test('an exchange that refuses a WebSocket is left alone for as long as it says', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const time = new ManualTime();
  const attempts: number[] = [];
  server.on('upgrade', (_, socket) => {
    attempts.push(Number((time.nowNs() - START) / 1_000_000_000n));
    socket.end('HTTP/1.1 429 Too Many Requests\r\nRetry-After: 240\r\n\r\n');
  });
  server.on('request', (_, response) => response.destroy());
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { run, warnings } = manualRun(
    t,
    `sources: { a: { kind: kraken, url: "ws://${address}", pairs_url: "http://${address}/" } }\nassets: { B: { from: [a BTC/USD], min_sources: 1 } }`,
    time,
  );
  await run.open();
  await until(() => run.meter.sources.get('a')!.ended === 1, 'the refusal');
  await until(() => {
    time.advance(1_000);
    return attempts.length === 2;
  }, 'another attempt');
  const waited = attempts[1]! - attempts[0]!;
  t.ok(waited >= 240 && waited < 300, `${waited} s`);
  t.match(
    warnings.join('\n'),
    'a: the exchange answers 429 instead of a WebSocket; connecting again in 240 s',
  );
});
