import { connect, type Socket } from 'node:net';
import { pause } from '../load/wait.js';
import { rangeToken } from './range_token.js';

// `range_readers.js PORT FIRST END ASSETS FROM TO`: the readers of the past with the numbers FIRST to END - 1, until the parent process ends
// this process. Each reader asks for the range of an asset, FROM to TO in ns. Half of the readers never read their answer. The process prints a line of JSON when all
// readers have asked.

const FORMATS = ['ndjson', 'csv', 'parquet'];
const DETAILS = ['price', 'signature', 'whole'];
const LIFETIME_MS = 180_000;
/** The time between two requests of a reader. */
const AGAIN_MS = 100;
const LAST_CHUNK = '0\r\n\r\n';

const [from, to] = process.argv.slice(6) as [string, string];
const [port, first, end, assets] = process.argv.slice(2, 6).map(Number) as [number, number, number, number];
setTimeout(() => process.exit(1), LIFETIME_MS);
await Promise.all(Array.from({ length: end - first }, (_, i) => begin(first + i)));
process.stdout.write(`${JSON.stringify({ port })}\n`);

/** Resolves when the reader has sent its first request. */
function begin(reader: number): Promise<void> {
  return new Promise((resolve) => {
    const again = () => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(requestOf(reader), () => resolve());
      });
      if (reader % 2 === 0) socket.pause();
      else readOn(socket, reader);
      socket.on('error', () => {});
      socket.once('close', () => void pause(AGAIN_MS).then(again));
    };
    again();
  });
}

/** Asks again after each answer. */
function readOn(socket: Socket, reader: number): void {
  let end = '';
  socket.on('data', (bytes: Buffer) => {
    end = (end + bytes.toString('latin1', Math.max(0, bytes.length - LAST_CHUNK.length))).slice(
      -LAST_CHUNK.length,
    );
    const isWhole = end === LAST_CHUNK || bytes.toString('latin1', 0, 16).includes(' 429 ');
    if (isWhole) void pause(AGAIN_MS).then(() => socket.writable && socket.write(requestOf(reader)));
  });
}

function requestOf(reader: number): string {
  const query = new URLSearchParams({
    asset: `A${reader % assets}`,
    from,
    to,
    format: FORMATS[reader % FORMATS.length]!,
    detail: DETAILS[Math.floor(reader / FORMATS.length) % DETAILS.length]!,
  });
  const path =
    reader % 5 === 4 ? `/v1/prices/at?assets=A0,A1&timestamp=${from}` : `/v1/prices/range?${query}`;
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic ${rangeToken(reader)}\r\n\r\n`;
}
