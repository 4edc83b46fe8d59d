import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { REST_PATHS, STREAM_PATH } from '../../src/wire/paths.js';
import { OTHER_TOKEN } from '../load/config.js';
import { clientFrame } from '../load/frame_socket.js';

/** The time between two connections of a client. */
const RECONNECT_MS = 20;
/** The longest time for which a client keeps a connection. */
const KEPT_MS_MAX = 400;
/** The number of requests in one write. A thread answers fewer requests in one turn of its event loop. */
const PIPELINED = 300;

const HEAD = `GET ${REST_PATHS.latest}?assets=A0 HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${OTHER_TOKEN}\r\n`;
const UPGRADE =
  `GET ${STREAM_PATH}?channel=10ms&message_type=signed_ecdsa HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${OTHER_TOKEN}\r\n` +
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n';
const SUBSCRIBE = clientFrame(JSON.stringify({ type: 'subscribe', assets: [0, 1] }));

/**
 * The bytes that the clients send, in turn. Together, these bytes bring connections into every state in which their thread can end.
 */
const WRITES: readonly (readonly (string | Buffer)[])[] = [
  [HEAD],
  [HEAD, '\r\n'],
  [`${HEAD}\r\n`.repeat(PIPELINED)],
  [`${HEAD}\r\n${HEAD}`],
  [`POST ${REST_PATHS.publisherMetadata} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{`],
  [`${HEAD}Content-Length: 3\r\n\r\nab`],
  [UPGRADE, SUBSCRIBE],
  [UPGRADE, SUBSCRIBE.subarray(0, 9)],
  [UPGRADE.slice(0, -9)],
];
/** The start of a TLS record with an incomplete handshake. */
const HALF_HANDSHAKE = Buffer.from('160301', 'hex');

/** Clients that connect, leave their connection in any state, and connect again after its end. */
export interface Storm {
  /** The number of connections so far. */
  readonly connections: number;
  stop(): void;
}

/** @param isTls true for a port with TLS; some clients then leave their handshake incomplete */
export function startStorm(port: number, clients: number, isTls: boolean): Storm {
  let connections = 0;
  let isStopped = false;
  const open = new Set<Socket>();

  function begin(): void {
    if (isStopped) return;
    const turn = connections++;
    const at = { port, host: '127.0.0.1' };
    const isHandshake = isTls && turn % 3 === 0;
    const socket = isTls && !isHandshake ? connectTls({ ...at, rejectUnauthorized: false }) : connect(at);
    open.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      open.delete(socket);
      setTimeout(begin, RECONNECT_MS);
    });
    if (isHandshake) socket.write(HALF_HANDSHAKE);
    else for (const bytes of WRITES[turn % WRITES.length]!) socket.write(bytes);
    // A paused client reads nothing, so the service must wait for the client.
    if (turn % 5 === 0) socket.pause();
    else socket.resume();
    setTimeout(() => socket.destroy(), KEPT_MS_MAX * ((turn % 8) / 8)).unref();
  }

  for (let client = 0; client < clients; client++) begin();
  return {
    get connections() {
      return connections;
    },
    stop() {
      isStopped = true;
      for (const socket of open) socket.destroy();
    },
  };
}
