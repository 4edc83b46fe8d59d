import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Test } from 'tap';

/** Starts an HTTP server until the end of the test. @param onUpgrade handles requests for a WebSocket @returns its address */
export async function serve(
  t: Test,
  listener: RequestListener,
  onUpgrade?: (socket: Duplex, request: IncomingMessage) => void,
): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  if (onUpgrade !== undefined)
    server.on('upgrade', (request, socket) => {
      socket.on('error', () => {});
      onUpgrade(socket, request);
    });
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
