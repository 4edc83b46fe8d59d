import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { Test } from 'tap';

/** A service that lies in one way to each request. A test sees how much of the lie its reader has taken. */
export interface LyingService {
  /** The base address, with `http://`. */
  readonly url: string;
  /** The number of requests and upgrades. */
  requests: number;
  /** The number of bytes that the readers have taken, with those in the buffers of the system. */
  sentBytes: number;
}

/** The answer to a request. */
export type Lie = (response: ServerResponse, service: LyingService, path: string) => unknown;

const acceptOf = (key: string) =>
  createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
const PART = Buffer.alloc(65_536, '[0],');
const MIB = 1024 ** 2;

/** Answers with a text and a status. */
export const answer =
  (text: string, status = 200, headers: Record<string, string> = {}): Lie =>
  (response) =>
    response.writeHead(status, headers).end(text);

/** Answers in a way that takes memory, time or trust, by the name of the way. */
export const LIES: Readonly<Record<string, Lie>> = {
  endless: (response, service) => {
    response.writeHead(200);
    return pour(response, service, PART);
  },
  'of 100 MB': (response, service) => {
    response.writeHead(200, { 'Content-Length': 100 * MIB });
    return pour(response, service, PART, 100 * MIB);
  },
  'a bomb of gzip': (response) => {
    response.writeHead(200, { 'Content-Encoding': 'gzip' });
    response.end(gzipBomb());
  },
  'gzip without content': (response, service) => {
    response.writeHead(200, { 'Content-Encoding': 'gzip' });
    response.write(gzipSync('').subarray(0, 10));
    // An empty block that is not the last one.
    return pour(response, service, Buffer.alloc(65_535, Buffer.from('000000ffff', 'hex')));
  },
  'nested lists': answer('['.repeat(4 * MIB)),
  'short lists': answer(`{"data":[${'[],'.repeat(1.3 * MIB)}[]]}`),
  'no JSON': answer('<html>\n'),
  null: answer('null\n'),
  'data: 5': answer('{"data":5}\n'),
  'data: [null]': answer('{"data":[null]}\n'),
  'data: {"A1":null}': answer(
    '{"data":{"A1":null,"assets":[null],"taxonomy_id":1},"announcements":[null]}\n',
  ),
};

let bomb: Buffer | undefined;
function gzipBomb(): Buffer {
  bomb ??= Buffer.concat(Array<Buffer>(16).fill(gzipSync(Buffer.alloc(16 * MIB, ' '))));
  return bomb;
}

/** Starts a service that answers each request with a lie. */
export async function startLyingService(
  t: Test,
  lie: Lie,
  onSocket: (socket: Duplex, key: string) => void = (socket) => socket.destroy(),
): Promise<LyingService> {
  const server = createServer((request, response) => {
    service.requests += 1;
    response.on('error', () => {});
    lie(response, service, request.url!);
  }).on('upgrade', (request, socket) => {
    service.requests += 1;
    socket.on('error', () => {});
    onSocket(socket, request.headers['sec-websocket-key']!);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const service = { url: `http://127.0.0.1:${port}`, requests: 0, sentBytes: 0 };
  return service;
}

/** Accepts a WebSocket, and sends a text message without waiting. @param extension an extension that the reader did not offer */
export function sendMessage(socket: Duplex, key: string, bytes: Buffer, extension = ''): void {
  const head = ['HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade'];
  head.push(`Sec-WebSocket-Accept: ${acceptOf(key)}`);
  if (extension !== '') head.push(`Sec-WebSocket-Extensions: ${extension}`);
  const length = Buffer.alloc(10);
  length.writeUInt16BE(0x817f, 0);
  length.writeBigUInt64BE(BigInt(bytes.length), 2);
  // A frame that closes.
  socket.on('data', (frame: Buffer) => (frame[0]! & 15) === 8 && socket.destroy());
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  socket.write(length);
  socket.write(bytes);
}

/** Sends a part again and again, as fast as the reader takes it. */
async function pour(
  response: ServerResponse,
  service: LyingService,
  part: Buffer,
  bytesMax = Number.POSITIVE_INFINITY,
): Promise<void> {
  for (let sent = 0; sent < bytesMax && !response.destroyed; sent += part.length) {
    const isFull = !response.write(part);
    service.sentBytes += part.length;
    if (isFull)
      await new Promise<void>((resolve) => {
        const listeners = { drain: () => next(), close: () => next() };
        const next = () => {
          response.off('drain', listeners.drain).off('close', listeners.close);
          resolve();
        };
        response.on('drain', listeners.drain).on('close', listeners.close);
      });
  }
  response.end();
}
