import { TOKEN } from '../../scripts/load/config.js';
import { clientFrame, openFrameSocket } from '../../scripts/load/frame_socket.js';
import type { ServerProcess } from '../../scripts/load/server_process.js';
import { percentile } from '../../scripts/load/statistics.js';
import { openStreams } from '../../scripts/load/streams.js';
import { publishMessage, Updates } from '../../scripts/load/updates.js';
import { pause } from '../../scripts/load/wait.js';
import { MESSAGE_TYPES } from '../../src/wire/stream.js';
import type { Line, Measurement, Row, Scale } from '../harness/row.js';
import { startPeer } from '../peers/start.js';
import { startPricedService } from '../workloads/priced_service.js';
import { openPublisher } from '../workloads/publishers.js';
import { unsignedFrame } from '../workloads/unsigned_frame.js';

const INTERVAL_MS = 5;
const MESSAGES: Readonly<Record<Scale, number>> = { full: 300, smoke: 10 };
/** Until then V8 interprets much of the code, several times slower. A few are sent every millisecond. */
const WARM_UP_MESSAGES: Readonly<Record<Scale, number>> = { full: 6_000, smoke: 2 };
const WARM_UP_BURST = 5;
const SUBSCRIBERS = [10, 100] as const;

export const latency: Row = {
  name: 'latency',
  title: 'Publish to subscriber, real_time, 200 updates a second',
  method:
    'From the moment a publisher hands a signed update to its socket until a subscriber holds the frame, over all updates ' +
    'and subscribers, on one clock: publisher and subscribers are one process. The peer is uWebSockets.js alone with the ' +
    'same client: it publishes a ready frame to the subscribers for every message; and the echo to the sender itself. ' +
    'Both sides have had 6,000 messages before.',
  limit:
    'In the 5 ms between two messages the core sleeps and its caches go cold. The service takes 8 µs until an update is ' +
    'admitted and 60 µs for its signature when messages come without a pause, and 65 to 180 and 90 to 200 µs when they ' +
    'come so seldom, while bare uWebSockets.js has next to no code to fetch. A core that is kept awake (`idle=poll`, ' +
    '`isolcpus` on bare metal) moves it.',
  rounds: 3,
  variants: {
    service: measureService,
    'bare uWS': measurePeer,
  },
  lines: () => [
    ...MESSAGE_TYPES.flatMap((type) => SUBSCRIBERS.map((count) => line(type, count))),
    {
      name: 'bare uWS, back to the sender',
      unit: 'ms p50',
      ours: { variant: 'bare uWS', figure: 'echo: p50' },
      peers: [],
    },
  ],
};

function line(type: string, count: number): Line {
  const figure = `${type}, ${count} subscribers`;
  const isTarget = count === 10;
  return {
    name: figure,
    unit: 'ms p50',
    ours: { variant: 'service', figure: `${figure}: p50` },
    ...(isTarget && { bound: { atMost: 0.5 } }),
    peers: [
      {
        name: 'bare uWS, message to subscribers',
        source: { variant: 'bare uWS', figure: `${count} subscribers: p50` },
        ...(isTarget && { ratio: { atMost: 3 } }),
      },
      { name: 'bare uWS, back to the sender', source: { variant: 'bare uWS', figure: 'echo: p50' } },
    ],
    shown: [
      { name: 'p99', unit: 'ms', source: { variant: 'service', figure: `${figure}: p99` } },
      {
        name: "bare uWS's p99",
        unit: 'ms',
        source: { variant: 'bare uWS', figure: `${count} subscribers: p99` },
      },
    ],
  };
}

async function measureService(scale: Scale): Promise<Measurement> {
  const figures: Record<string, number> = {};
  const { service, updates } = await startPricedService({ assets: 1, clockPeriod: '60s' });
  for (const type of MESSAGE_TYPES) await warmUp(service, scale, `message_type=${type}`, updates);
  for (const type of MESSAGE_TYPES)
    for (const count of SUBSCRIBERS) {
      const delays = await measureDelays(service, scale, `message_type=${type}`, count, updates);
      addPercentiles(figures, `${type}, ${count} subscribers`, delays);
    }
  await service.stop();
  return { figures };
}

async function measurePeer(scale: Scale): Promise<Measurement> {
  const figures: Record<string, number> = {};
  const peer = await startPeer('uws_echo', unsignedFrame(1));
  const updates = new Updates('evm');
  for (let i = 0; i < MESSAGE_TYPES.length; i++) await warmUp(peer, scale, '', updates);
  for (const count of SUBSCRIBERS) {
    const delays = await measureDelays(peer, scale, '', count, updates);
    addPercentiles(figures, `${count} subscribers`, delays);
  }
  addPercentiles(figures, 'echo', await measureEcho(peer, scale));
  await peer.stop();
  return { figures };
}

function addPercentiles(figures: Record<string, number>, name: string, delaysMs: readonly number[]): void {
  figures[`${name}: p50`] = percentile(delaysMs, 50);
  figures[`${name}: p99`] = percentile(delaysMs, 99);
}

/** Half of the messages, for one message type. */
async function warmUp(server: ServerProcess, scale: Scale, query: string, updates: Updates): Promise<void> {
  const streams = await openStreams({ port: server.port, query, count: SUBSCRIBERS[0], assetsOf: () => [0] });
  const publisher = await openPublisher(server.port, 'evm', refuseReply);
  for (const [i, message] of makeMessages(updates, WARM_UP_MESSAGES[scale] / 2).entries()) {
    publisher.write(message);
    if (i % WARM_UP_BURST === 0) await pause(1);
  }
  await pause(20 * INTERVAL_MS);
  publisher.close();
  streams.close();
}

/** Valid updates are answered by nothing. */
function refuseReply(text: string): never {
  throw new Error(text);
}

/**
 * Sends updates at an interval. Frames arrive long before the next update is sent, so a frame belongs to the last update.
 * @returns for every update and subscriber the delay in ms.
 */
async function measureDelays(
  server: ServerProcess,
  scale: Scale,
  query: string,
  subscribers: number,
  updates: Updates,
): Promise<number[]> {
  const delaysMs: number[] = [];
  let sentMs = 0;
  const streams = await openStreams({
    port: server.port,
    query,
    count: subscribers,
    assetsOf: () => [0],
    onFrame: () => delaysMs.push(performance.now() - sentMs),
  });
  const publisher = await openPublisher(server.port, 'evm', refuseReply);
  for (const message of makeMessages(updates, MESSAGES[scale])) {
    await pause(INTERVAL_MS);
    sentMs = performance.now();
    publisher.write(message);
  }
  await pause(20 * INTERVAL_MS);
  publisher.close();
  streams.close();
  return delaysMs;
}

async function measureEcho(server: ServerProcess, scale: Scale): Promise<number[]> {
  const delaysMs: number[] = [];
  let sentMs = 0;
  const socket = await openFrameSocket({
    port: server.port,
    path: '/echo',
    token: TOKEN,
    onFrame: () => delaysMs.push(performance.now() - sentMs),
  });
  for (const message of makeMessages(new Updates('evm'), MESSAGES[scale])) {
    await pause(INTERVAL_MS);
    sentMs = performance.now();
    socket.write(message);
  }
  await pause(20 * INTERVAL_MS);
  socket.close();
  return delaysMs;
}

function makeMessages(updates: Updates, count: number): Buffer[] {
  return Array.from({ length: count }, () => clientFrame(publishMessage([updates.update(0, 0).text])));
}
