import { connect } from 'node:net';
import { REST_PATHS } from '../../src/wire/paths.js';
import { OTHER_TOKEN } from '../load/config.js';
import { clientFrame, type FrameSocket, openFrameSocket } from '../load/frame_socket.js';
import { openStreams } from '../load/streams.js';
import { publishMessage, Updates } from '../load/updates.js';
import { pause } from '../load/wait.js';

// `hostile.js KIND PORT ASSETS MORE`: clients that use all rights of one token. `MORE` is the number of readers of `stalled`, or the first time
// of `past`. They run in a separate process, until its parent kills it or its time is over. The process prints a line of JSON when it has begun.

const LIFETIME_MS = 180_000;
/** The connections and publishers of a token: the default of `publish_connections_per_token`, and what `fair` sets. */
const CONNECTIONS = 100;
const PUBLISHERS = 16;
const JUNK_PUBLISHERS = 10;
const JUNK_BYTES = 1_000_000;
/** The number of different messages. Publishers share no message. */
const FORGED_MESSAGES = 4;
/** The number of updates in a message of a flood. With fewer, the refused messages would exceed `bad_messages_per_second`. */
const FLOOD_UPDATES = 80;
const FLOOD_MESSAGES = 64;
/**
 * The interval of messages of a flood. It gives 20,000 updates a second, which is ten times the limit of a token and more than a core can
 * verify. Their bytes are a quarter above `publish_bytes_per_second`, so the service refuses some messages as a whole.
 */
const FLOOD_INTERVAL_MS = 4;
const WRITE_BYTES = 256 * 1024;
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
const FORMATS = ['ndjson', 'csv', 'parquet'];

const [kind = '', port, assets, more] = process.argv.slice(2);
const PORT = Number(port);
const ASSETS = Array.from({ length: Number(assets) }, (_, asset) => asset);
/** All assets except one. Each connection has a set of its own, so the service must make frames for each connection separately. */
const setOf = (connection: number) => ASSETS.filter((asset) => asset !== connection);

const BEGIN = {
  /** Reads signed frames. */
  async signed() {
    const query = 'channel=10ms&message_type=signed_ecdsa';
    await openStreams({ port: PORT, query, count: CONNECTIONS, token: OTHER_TOKEN, assetsOf: setOf });
  },
  async subscriptions() {
    for (let connection = 0; connection < CONNECTIONS; connection++) {
      const [subscribe, unsubscribe] = ['subscribe', 'unsubscribe'].map((type) =>
        clientFrame(JSON.stringify({ type, assets: setOf(connection), id: 1 })),
      );
      const socket = await open('/ws?channel=10ms');
      let turn = 0;
      setInterval(() => socket.write(turn++ % 2 === 0 ? subscribe! : unsubscribe!), CONTROL_INTERVAL_MS);
    }
  },
  /** Subscribes to all assets, and never reads. */
  async stalled() {
    const subscribe = clientFrame(JSON.stringify({ type: 'subscribe', assets: ASSETS }));
    const stall = async () => {
      const socket = await open('/ws?channel=50ms');
      socket.pause();
      socket.write(subscribe);
    };
    await Promise.all(Array.from({ length: Number(more) }, stall));
  },
  /** Asks for ranges of the past, and never reads the answers. */
  async past() {
    for (let reader = 0; reader < CONNECTIONS; reader++) {
      const format = FORMATS[reader % FORMATS.length];
      const query = `asset=A${reader % ASSETS.length}&from=${more}&to=${Date.now()}000000&format=${format}`;
      const socket = connect(PORT, '127.0.0.1').on('error', () => {});
      socket.write(
        `GET ${REST_PATHS.range}?${query} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic ${OTHER_TOKEN}\r\n\r\n`,
      );
      socket.pause();
    }
  },
  async junk() {
    const data = { A0: 'x'.repeat(JUNK_BYTES) };
    sendForever(JUNK_PUBLISHERS, clientFrame(JSON.stringify({ type: 'signed_prices', data })));
  },
  async tiny() {
    sendForever(PUBLISHERS, repeated(clientFrame('{"type":"signed_prices","data":{}}'), WRITE_BYTES));
  },
  /** Sends bad signatures on one connection. A timer that is late does not make the flood smaller. */
  async flood() {
    const frames = forgedMessages(FLOOD_MESSAGES, FLOOD_UPDATES);
    const socket = await open(PUBLISH);
    const startMs = performance.now();
    let sent = 0;
    setInterval(() => {
      for (; startMs + sent * FLOOD_INTERVAL_MS < performance.now(); sent++)
        socket.write(frames[sent % FLOOD_MESSAGES]!);
    }, FLOOD_INTERVAL_MS);
  },
  /** Each connection sends one message with bad signatures, and ends after the answer. */
  async forged() {
    const frames = forgedMessages(FORGED_MESSAGES, ASSETS.length - 1);
    for (let publisher = 0; publisher < PUBLISHERS; publisher++)
      keepConnected(
        PUBLISH,
        (socket) => socket.write(frames[publisher % FORGED_MESSAGES]!),
        (socket) => socket.close(),
      );
  },
  /** Sends empty frames on all connections of the token, through a proxy that limits the bytes of each connection. */
  async limited() {
    const begin = Buffer.from([0x01, 0x81, 0, 0, 0, 0, 0x7b]);
    const bytes = (LIMITED_BYTES_PER_SECOND * LIMITED_INTERVAL_MS) / 1_000;
    const frames = repeated(Buffer.from([0x00, 0x80, 0, 0, 0, 0]), bytes);
    for (let connection = 0; connection < CONNECTIONS; connection++)
      keepConnected(connection < PUBLISHERS ? PUBLISH : '/ws', (socket) => {
        socket.write(begin);
        setInterval(() => socket.write(frames), LIMITED_INTERVAL_MS);
      });
  },
  /** Opens all connections of publishers, each with the longest unfinished message, and closes and opens them repeatedly. */
  async unfinished() {
    const frame = Buffer.alloc(14 + UNFINISHED_BYTES - 1);
    frame.writeUInt16BE(0x81ff);
    frame.writeBigUInt64BE(BigInt(UNFINISHED_BYTES), 2);
    for (let publisher = 0; publisher < PUBLISHERS; publisher++)
      keepConnected(PUBLISH, (socket) => socket.write(frame, () => socket.close()));
  },
} as const satisfies Readonly<Record<string, () => Promise<void>>>;

export type HostileKind = keyof typeof BEGIN;

/** Sends the frames on connections repeatedly, and connects again after each end of a connection. */
function sendForever(publishers: number, frames: Buffer): void {
  for (let publisher = 0; publisher < publishers; publisher++)
    keepConnected(PUBLISH, (socket) => {
      const sendNext = () => socket.write(frames, sendNext);
      sendNext();
    });
}

function repeated(frame: Buffer, bytes: number): Buffer {
  return Buffer.concat(Array<Buffer>(Math.ceil(bytes / frame.length)).fill(frame));
}

/** Makes messages in which each update has the signature of a different update. */
function forgedMessages(count: number, updatesEach: number): Buffer[] {
  const updates = new Updates('evm');
  const signature = /"signature":\{[^}]*\}/;
  return Array.from({ length: count }, () => {
    const texts = Array.from({ length: updatesEach }, (_, asset) => updates.update(1, asset).text);
    const next = (i: number) => signature.exec(texts[(i + 1) % updatesEach]!)![0];
    return clientFrame(publishMessage(texts.map((text, i) => text.replace(signature, next(i)))));
  });
}

function open(path: string, more: { onFrame?: () => void; onClose?: () => void } = {}): Promise<FrameSocket> {
  return openFrameSocket({ port: PORT, path, token: OTHER_TOKEN, onFrame: () => {}, ...more });
}

/** Opens a connection, and a new one after each end of the connection. */
function keepConnected(
  path: string,
  onOpen: (socket: FrameSocket) => void,
  onAnswer: (socket: FrameSocket) => void = () => {},
): void {
  let opened: FrameSocket | undefined;
  const again = () => void pause(RECONNECT_MS).then(() => keepConnected(path, onOpen, onAnswer));
  open(path, { onFrame: () => opened && onAnswer(opened), onClose: again }).then((socket) => {
    opened = socket;
    onOpen(socket);
  }, again);
}

setTimeout(() => process.exit(1), LIFETIME_MS);
await BEGIN[kind as HostileKind]();
process.stdout.write(`${JSON.stringify({ port: PORT })}\n`);
