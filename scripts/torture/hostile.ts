import { OTHER_TOKEN } from '../load/config.js';
import { clientFrame, type FrameSocket, openFrameSocket } from '../load/frame_socket.js';
import { openStreams } from '../load/streams.js';
import { publishMessage, Updates } from '../load/updates.js';
import { pause } from '../load/wait.js';

// `hostile_main.js KIND PORT FORGING_PUBLISHERS`: a client that uses all rights of its token. The client runs in a separate process, until its parent
// kills it or its time is over. The process prints a line of JSON when it has begun.

/** The kinds of hostile clients. */
export const HOSTILE_KINDS = [
  'signed',
  'subscriptions',
  'junk',
  'forged',
  'empty',
  'limited',
  'unfinished',
  'tiny',
] as const;
export type HostileKind = (typeof HOSTILE_KINDS)[number];

/** The number of assets of the service. Each subscribed set contains all assets except one. */
export const HOSTILE_ASSETS = 1_000;

const LIFETIME_MS = 180_000;
const READERS = 100;
const JUNK_PUBLISHERS = 10;
const JUNK_BYTES = 1_000_000;
/** The number of different messages. Publishers share no message. */
const FORGED_MESSAGES = 4;
const FORGED_UPDATES = 999;
/** The number of connections that send small frames at full speed. */
const FLOODING = 20;
/** The number of publishers that a token may have: the default of `publish_connections_per_token`. */
export const HOSTILE_PUBLISHERS = 16;
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
function keepSendingOn(port: number, path: string, frames: Buffer, begin: Buffer = Buffer.alloc(0)): void {
  void keepConnected(port, path, (socket) => {
    const sendNext = () => socket.write(frames, sendNext);
    socket.write(begin, sendNext);
  });
}

const BEGIN_MESSAGE = Buffer.from([0x01, 0x81, 0, 0, 0, 0, 0x7b]);
const EMPTY_FRAME = Buffer.from([0x00, 0x80, 0, 0, 0, 0]);

/** Begins messages, and continues them with empty frames. */
async function sendEmptyFrames(port: number): Promise<void> {
  for (let connection = 0; connection < FLOODING; connection++)
    keepSendingOn(port, connection % 2 === 0 ? '/ws' : PUBLISH, filledWith(EMPTY_FRAME), BEGIN_MESSAGE);
}

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

/** Publishes updates with the signatures of other updates. Each connection sends one message, and ends after the answer. */
async function publishForged(port: number, publishers: number): Promise<void> {
  const updates = new Updates('evm');
  const frames = Array.from({ length: FORGED_MESSAGES }, () => {
    const texts = Array.from({ length: FORGED_UPDATES }, (_, asset) => updates.update(1, asset).text);
    const signatureOf = (text: string) => /"signature":\{[^}]*\}/.exec(text)![0];
    const forged = texts.map((text, i) =>
      text.replace(signatureOf(text), signatureOf(texts[(i + 1) % FORGED_UPDATES]!)),
    );
    return clientFrame(publishMessage(forged));
  });
  for (let publisher = 0; publisher < publishers; publisher++)
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

const BEGIN: Readonly<Record<HostileKind, (port: number, forgingPublishers: number) => Promise<void>>> = {
  signed: readSigned,
  subscriptions: changeSubscriptions,
  junk: publishJunk,
  forged: publishForged,
  empty: sendEmptyFrames,
  limited: sendLimitedEmptyFrames,
  unfinished: leaveUnfinished,
  tiny: publishTiny,
};

/** Runs a hostile client with the arguments of the program. */
export async function beHostile(kind: HostileKind, port: number, forgingPublishers: number): Promise<void> {
  setTimeout(() => process.exit(1), LIFETIME_MS);
  await BEGIN[kind](port, forgingPublishers);
  process.stdout.write(`${JSON.stringify({ port })}\n`);
}
