import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'tap';
import { openStreams } from '../../scripts/load/streams.js';

test('a load run fails, and does not wait, when the server ends a connection that it has not answered', async (t) => {
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
      socket.once('data', () => socket.end(Buffer.from([0x88, 2, 0x03, 0xf5])));
    });
  }).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await t.rejects(openStreams({ port, query: 'channel=10ms', count: 2, assetsOf: () => [0] }), {
    message: /connection \d ended with code 1013 before its answer/,
  });
});
