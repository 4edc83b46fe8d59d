import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { announce } from './web_sockets.js';

/**
 * `ws_publish.js INTERVAL_MS FRAME`: sends one frame to every connection at an interval. The server uses the npm
 * package `ws`.
 */
const [interval = '100', frame = ''] = process.argv.slice(2);
const bytes = Buffer.from(frame);
const server = createServer();
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on('connection', (socket) => {
  socket.once('message', (message) => socket.send(message, { binary: false }));
});
setInterval(() => {
  for (const socket of sockets.clients) socket.send(bytes, { binary: false });
}, Number(interval));
server.listen(0, '127.0.0.1', () => announce((server.address() as AddressInfo).port));
