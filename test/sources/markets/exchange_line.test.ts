import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { test } from 'tap';
import { type WebSocket, WebSocketServer } from 'ws';
import { MARKETS } from '../../../src/sources/adapters/built_in.js';
import { ExchangeLine } from '../../../src/sources/markets/exchange_line.js';
import { MarketConnection } from '../../../src/sources/markets/market_connection.js';
import { ManualTime } from './manual_time.js';

test('a connection that opens after its successor was lost subscribes its own pairs', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const time = new ManualTime();
  const market = MARKETS.bitstamp;
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const warnings: string[] = [];
  const pairs = new Map([
    ['BTC/USD', 10_000],
    ['ETH/USD', 10_000],
  ]);
  let connection = 0;
  const upgrade = () => once(server, 'upgrade') as Promise<[IncomingMessage, Duplex, Buffer]>;
  const first = upgrade();
  const line = new ExchangeLine(
    {
      rules: market.rules,
      connect: (events) =>
        new MarketConnection({ url, rules: market.rules, schedule: time.schedule, ...events }),
      pairs,
      sink: {
        begin: (symbols) => ({ connection: ++connection, session: market.open(symbols) }),
        end: () => {},
        read: () => [],
        lacks: () => {},
        warn: (text) => warnings.push(text),
      },
      schedule: time.schedule,
      nowMs: () => 0,
      random: () => 0,
    },
    ['BTC/USD'],
  );
  const [request, socket, head] = await first;
  t.teardown(() => {
    line.close();
    socket.destroy();
    server.close();
  });

  const second = upgrade();
  line.add(['ETH/USD']);
  const [, successor] = await second;
  const lost = once(successor, 'close');
  successor.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n');
  await lost;
  while (warnings.length === 0) await new Promise(setImmediate);

  const sockets = new WebSocketServer({ noServer: true });
  const opened = await new Promise<WebSocket>((resolve) =>
    sockets.handleUpgrade(request, socket, head, resolve),
  );
  const [text] = await once(opened, 'message');
  t.match(String(text), 'bts:subscribe');
});
