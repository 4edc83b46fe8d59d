import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { OTHER_TOKEN } from '../load/config.js';
import { clientFrame, type FrameSocket, openFrameSocket } from '../load/frame_socket.js';
import { openStreams } from '../load/streams.js';
import { publishMessage, Updates } from '../load/updates.js';
import { pause } from '../load/wait.js';
import { HOSTILE_ASSETS, HOSTILE_PUBLISHERS, type HostileKind } from './fair.js';
import { RANGE_ASSETS, rangeToken } from './ranges.js';

// `hostile.js KIND PORT [ARGUMENTS]`: a client that uses all rights of its token. The client runs in a separate process, until its parent
// kills it or its time is over. The process prints a line of JSON when it has begun. `past FIRST END FROM TO` reads the past with the
// readers FIRST to END - 1.

const LIFETIME_MS = 180_000;
const READERS = 100;
const JUNK_PUBLISHERS = 10;
const JUNK_BYTES = 1_000_000;
/** The number of different messages. Publishers share no message. */
const FORGED_MESSAGES = 4;
const FORGED_UPDATES = 999;
/** The number of updates in a message of a flood. With fewer, the refused messages would exceed `bad_messages_per_second`. */
const FLOOD_UPDATES = 80;
const FLOOD_MESSAGES = 64;
/**
 * The interval of messages of a flood. It gives 20,000 updates a second, which is ten times the limit of a token and more than a core can
 * verify. Their bytes are a quarter above `publish_bytes_per_second`, so the service refuses some messages as a whole.
 */
const FLOOD_INTERVAL_MS = 4;
const FLOOD_WRITE_BYTES = 256 * 1024;
/** The interval of control messages. `control_messages_per_second` is 10. */
const CONTROL_INTERVAL_MS = 100;
/** The bytes a second of a connection that a proxy in front of the service lets through (scripts/deploy/README.md). */
const LIMITED_BYTES_PER_SECOND = 256 * 1024;
const LIMITED_INTERVAL_MS = 50;
/** The length of an unfinished message. The service ends a connection with a longer message. */
const UNFINISHED_BYTES = 2 * 1024 * 1024;
/** The time between two attempts to connect. */
const RECONNECT_MS = 5;
const PUBLISH = '/evm/publish?ack=true';

/** Reads signed frames. Each connection has a different set of assets, so the service must sign for each connection separately. */
async function readSigned(port: number): Promise<void> {
  await openStreams({
    port,
    query: 'channel=10ms&message_type=signed_ecdsa',
    count: READERS,
    token: OTHER_TOKEN,
    assetsOf: setOf,
  });
}

async function changeSubscriptions(port: number): Promise<void> {
  const options = { port, path: '/ws?channel=10ms', token: OTHER_TOKEN, onFrame: () => {} };
  const sockets = await Promise.all(Array.from({ length: READERS }, () => openFrameSocket(options)));
  const requests = sockets.map((_, connection) =>
    ['subscribe', 'unsubscribe'].map((type) =>
      clientFrame(JSON.stringify({ type, assets: setOf(connection), id: 1 })),
    ),
  );
  let turn = 0;
  setInterval(() => {
    sockets.forEach((socket, connection) => {
      socket.write(requests[connection]![turn % 2]!);
    });
    turn++;
  }, CONTROL_INTERVAL_MS);
}

async function publishJunk(port: number): Promise<void> {
  const frame = clientFrame(JSON.stringify({ type: 'signed_prices', data: { A0: 'x'.repeat(JUNK_BYTES) } }));
  for (let publisher = 0; publisher < JUNK_PUBLISHERS; publisher++) keepSendingOn(port, PUBLISH, frame);
}

/** Sends the frames on a connection repeatedly, and connects again after each end of the connection. */
function keepSendingOn(port: number, path: string, frames: Buffer): void {
  void keepConnected(port, path, (socket) => {
    const sendNext = () => socket.write(frames, sendNext);
    sendNext();
  });
}

const BEGIN_MESSAGE = Buffer.from([0x01, 0x81, 0, 0, 0, 0, 0x7b]);
const EMPTY_FRAME = Buffer.from([0x00, 0x80, 0, 0, 0, 0]);

/** Sends empty frames on all connections of the token, through a proxy that limits the bytes of each connection. */
async function sendLimitedEmptyFrames(port: number): Promise<void> {
  const frames = Math.floor((LIMITED_BYTES_PER_SECOND * LIMITED_INTERVAL_MS) / 1_000 / EMPTY_FRAME.length);
  const bytes = Buffer.concat(Array<Buffer>(frames).fill(EMPTY_FRAME));
  for (let connection = 0; connection < READERS; connection++)
    void keepConnected(port, connection < HOSTILE_PUBLISHERS ? PUBLISH : '/ws', (socket) => {
      socket.write(BEGIN_MESSAGE);
      setInterval(() => socket.write(bytes), LIMITED_INTERVAL_MS);
    });
}

/** Opens all connections of publishers, each with the longest unfinished message, and closes and opens them repeatedly. */
async function leaveUnfinished(port: number): Promise<void> {
  const frame = Buffer.alloc(14 + UNFINISHED_BYTES - 1);
  frame.writeUInt16BE(0x81ff);
  frame.writeBigUInt64BE(BigInt(UNFINISHED_BYTES), 2);
  for (let publisher = 0; publisher < HOSTILE_PUBLISHERS; publisher++)
    void keepConnected(port, PUBLISH, (socket) => socket.write(frame, () => socket.close()));
}

/** Publishes valid messages without prices. */
async function publishTiny(port: number): Promise<void> {
  const tiny = clientFrame('{"type":"signed_prices","data":{}}');
  for (let publisher = 0; publisher < HOSTILE_PUBLISHERS; publisher++)
    keepSendingOn(port, PUBLISH, filledWith(tiny));
}

function filledWith(frame: Buffer): Buffer {
  return Buffer.concat(Array<Buffer>(Math.ceil(FLOOD_WRITE_BYTES / frame.length)).fill(frame));
}

/** Returns a message in which each update has the signature of a different update. */
function forgedMessage(updates: Updates, assets: number): Buffer {
  const texts = Array.from({ length: assets }, (_, asset) => updates.update(1, asset).text);
  const signatureOf = (text: string) => /"signature":\{[^}]*\}/.exec(text)![0];
  const forged = texts.map((text, i) =>
    text.replace(signatureOf(text), signatureOf(texts[(i + 1) % assets]!)),
  );
  return clientFrame(publishMessage(forged));
}

/** Sends messages with bad signatures on one connection. A timer that is late does not make the flood smaller. */
async function floodForged(port: number): Promise<void> {
  const updates = new Updates('evm');
  const frames = Array.from({ length: FLOOD_MESSAGES }, () => forgedMessage(updates, FLOOD_UPDATES));
  const socket = await openFrameSocket({ port, path: PUBLISH, token: OTHER_TOKEN, onFrame: () => {} });
  const startMs = performance.now();
  let sent = 0;
  setInterval(() => {
    for (; startMs + sent * FLOOD_INTERVAL_MS < performance.now(); sent++)
      socket.write(frames[sent % FLOOD_MESSAGES]!);
  }, FLOOD_INTERVAL_MS);
}

/** Publishes updates with the signatures of other updates. Each connection sends one message, and ends after the answer. */
async function publishForged(port: number, publishers = '1'): Promise<void> {
  const updates = new Updates('evm');
  const frames = Array.from({ length: FORGED_MESSAGES }, () => forgedMessage(updates, FORGED_UPDATES));
  for (let publisher = 0; publisher < Number(publishers); publisher++)
    void keepConnected(
      port,
      PUBLISH,
      (socket) => socket.write(frames[publisher % FORGED_MESSAGES]!),
      (socket) => socket.close(),
    );
}

/** Opens a new connection after each end of the connection. */
async function keepConnected(
  port: number,
  path: string,
  onOpen: (socket: FrameSocket) => void,
  onAnswer: (socket: FrameSocket) => void = () => {},
): Promise<void> {
  for (;;) {
    await new Promise<void>((resolve) => {
      let opened: FrameSocket | undefined;
      openFrameSocket({
        port,
        path,
        token: OTHER_TOKEN,
        onFrame: () => opened && onAnswer(opened),
        onClose: () => resolve(),
      }).then(
        (socket) => {
          opened = socket;
          onOpen(socket);
        },
        () => resolve(),
      );
    });
    await pause(RECONNECT_MS);
  }
}

function setOf(connection: number): number[] {
  return Array.from({ length: HOSTILE_ASSETS }, (_, asset) => asset).filter((asset) => asset !== connection);
}

const FORMATS = ['ndjson', 'csv', 'parquet'];
const DETAILS = ['price', 'signature', 'whole'];
/** The time between two requests of a reader of the past. */
const AGAIN_MS = 100;
const LAST_CHUNK = '0\r\n\r\n';

/** Reads ranges of the past. Half of the readers never read their answer. Resolves when all readers have asked. */
async function readPast(port: number, first: string, end: string, from: string, to: string): Promise<void> {
  const begin = (reader: number) =>
    new Promise<void>((resolve) => {
      const request = requestOf(reader, from, to);
      const again = () => {
        const socket = connect(port, '127.0.0.1', () => {
          socket.write(request, () => resolve());
        });
        if (reader % 2 === 0) socket.pause();
        else readOn(socket, request);
        socket.on('error', () => {});
        socket.once('close', () => void pause(AGAIN_MS).then(again));
      };
      again();
    });
  const readers = Array.from({ length: Number(end) - Number(first) }, (_, i) => Number(first) + i);
  await Promise.all(readers.map(begin));
}

/** Asks again after each answer. */
function readOn(socket: Socket, request: string): void {
  let end = '';
  socket.on('data', (bytes: Buffer) => {
    const last = bytes.toString('latin1', Math.max(0, bytes.length - LAST_CHUNK.length));
    end = (end + last).slice(-LAST_CHUNK.length);
    const isWhole = end === LAST_CHUNK || bytes.toString('latin1', 0, 16).includes(' 429 ');
    if (isWhole) void pause(AGAIN_MS).then(() => socket.writable && socket.write(request));
  });
}

function requestOf(reader: number, from: string, to: string): string {
  const query = new URLSearchParams({
    asset: `A${reader % RANGE_ASSETS}`,
    from,
    to,
    format: FORMATS[reader % FORMATS.length]!,
    detail: DETAILS[Math.floor(reader / FORMATS.length) % DETAILS.length]!,
  });
  const path =
    reader % 5 === 4 ? `/v1/prices/at?assets=A0,A1&timestamp=${from}` : `/v1/prices/range?${query}`;
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic ${rangeToken(reader)}\r\n\r\n`;
}

const BEGIN: Readonly<Record<HostileKind | 'past', (port: number, ...more: string[]) => Promise<void>>> = {
  signed: readSigned,
  subscriptions: changeSubscriptions,
  junk: publishJunk,
  forged: publishForged,
  flood: floodForged,
  limited: sendLimitedEmptyFrames,
  unfinished: leaveUnfinished,
  tiny: publishTiny,
  past: readPast as (port: number, ...more: string[]) => Promise<void>,
};

const [kind = '', port, ...more] = process.argv.slice(2);
const begin = Object.entries(BEGIN).find(([name]) => name === kind)?.[1];
assert(begin, `one of ${Object.keys(BEGIN).join(', ')}`);
setTimeout(() => process.exit(1), LIFETIME_MS);
await begin(Number(port), ...more);
process.stdout.write(`${JSON.stringify({ port: Number(port) })}\n`);
