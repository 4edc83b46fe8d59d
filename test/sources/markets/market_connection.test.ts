import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type Test, test } from 'tap';
import { type WebSocket, WebSocketServer } from 'ws';
import { MARKETS } from '../../../src/sources/adapters/built_in.js';
import { MarketConnection } from '../../../src/sources/markets/market_connection.js';
import type { BuiltInKind } from '../../../src/sources/sources_schema.js';
import { ManualTime, until } from './manual_time.js';

// Tests of the exchanges' connection rules, on real sockets.

const KINDS = Object.keys(MARKETS) as BuiltInKind[];

/** Connects to a server of the test by the rules of an exchange. */
async function connected(t: Test, kind: BuiltInKind) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const time = new ManualTime();
  const { rules, open } = MARKETS[kind];
  const ends: string[] = [];
  const texts: string[] = [];
  const accepted = once(server, 'connection') as Promise<[WebSocket]>;
  let isOpen = false;
  const connection = new MarketConnection({
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    rules,
    schedule: time.schedule,
    session: open([]),
    onOpen: () => {
      isOpen = true;
    },
    onText: (text) => texts.push(text),
    onEnd: (reason) => ends.push(reason),
  });
  const [peer] = await accepted;
  const received: string[] = [];
  peer.on('message', (data) => received.push(String(data)));
  t.teardown(() => {
    connection.close();
    peer.terminate();
    server.close();
  });
  await until(() => isOpen, 'the open connection');
  return { time, rules, ends, texts, connection, peer, received };
}

test('a connection without any frame for the time of its exchange is ended at once', async (t) => {
  const { time, rules, ends, peer } = await connected(t, 'kraken');
  const closed = once(peer, 'close');
  time.advance(rules.silenceMs * 0.99);
  t.same(ends, []);
  time.advance(rules.silenceMs * 0.51);
  t.same(ends, [`no frame for ${rules.silenceMs / 1000} s`]);
  t.equal((await closed)[0], 1006, 'without a closing handshake, which waits for the other side');
});

test('heartbeats, pings of the protocol and data all keep a connection', async (t) => {
  const { time, rules, ends, texts, peer } = await connected(t, 'binance');
  const pongs: string[] = [];
  peer.on('pong', (payload) => pongs.push(String(payload)));
  for (let round = 1; round <= 6; round++) {
    time.advance(rules.silenceMs * 0.4);
    if (round % 2 === 0) {
      peer.send(`${round}`);
      await until(() => texts.includes(`${round}`), 'the frame');
    } else {
      peer.ping(`178661300000${round}`);
      await until(() => pongs.includes(`178661300000${round}`), 'the pong with the payload of the ping');
    }
  }
  t.same(ends, []);
});

test('an exchange that does not speak by itself is asked to, before it ends the connection', async (t) => {
  for (const [kind, ping, beforeMs] of [
    ['okx', 'ping', 30_000],
    ['bybit', '{"op":"ping"}', 20_000],
    ['bitstamp', '{"event":"bts:heartbeat"}', 25_000],
  ] as const) {
    const { rules, open } = MARKETS[kind];
    t.ok(rules.pingMs! < beforeMs && rules.pingMs! < rules.silenceMs, `${kind}: ${rules.pingMs} ms`);
    t.equal(open([]).ping, ping);
  }
  const { time, rules, received } = await connected(t, 'okx');
  time.advance(rules.pingMs!);
  await until(() => received.length > 0, 'the ping');
  t.same(received, ['ping']);
});

test('messages go one by one, with the pause of the exchange', async (t) => {
  const perSecond = { kraken: 1, coinbase: 8, binance: 5, okx: 10, bybit: 10, bitstamp: 10 };
  for (const kind of KINDS) {
    const { pauseMs } = MARKETS[kind].rules;
    t.ok(1_000 / pauseMs <= perSecond[kind], `${kind}: ${pauseMs} ms`);
  }
  const { time, rules, connection, received } = await connected(t, 'kraken');
  connection.send(['a', 'b', 'c']);
  await until(() => received.length === 1, 'the first message');
  time.advance(rules.pauseMs - 1);
  await new Promise(setImmediate);
  t.same(received, ['a']);
  time.advance(1);
  await until(() => received.length === 2, 'the second message');
  time.advance(rules.pauseMs);
  await until(() => received.length === 3, 'the third message');
});
