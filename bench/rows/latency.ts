import { type LoadConfig, TOKEN } from '../../scripts/load/config.js';
import { openFrameSocket } from '../../scripts/load/frame_socket.js';
import type { ServerProcess } from '../../scripts/load/server_process.js';
import { Updates } from '../../scripts/load/updates.js';
import { pause } from '../../scripts/load/wait.js';
import { MESSAGE_TYPES, type MessageType } from '../../src/wire/stream.js';
import type { Line, Measurement, Row, Scale } from '../harness/row.js';
import { startPeer } from '../peers/start.js';
import { addPercentiles, INTERVAL_MS, makeMessages, measureDelays, warmUp } from '../workloads/delays.js';
import { startPricedService } from '../workloads/priced_service.js';
import { unsignedFrame } from '../workloads/unsigned_frame.js';

const MESSAGES: Readonly<Record<Scale, number>> = { full: 300, smoke: 10 };
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
    'In the 5 ms between two messages the core sleeps and its caches go cold. By a trace, 230 µs pass between the call with an update and the first write of its frame: ' +
    'reading takes 13 µs, a signature 64 (35 when messages come without a pause), the first write 36, and each further write 3; only 9 are for the store and timeouts. ' +
    'Bare uWebSockets.js has next to no code to fetch. A core that is kept awake (`idle=poll`, `isolcpus` on bare metal) moves it.',
  rounds: 3,
  variants: {
    service: (scale) => measureService(scale, MESSAGE_TYPES, SUBSCRIBERS),
    'bare uWS': (scale) => measurePeer(scale),
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

/** @param load additional settings of the service's load */
export async function measureService(
  scale: Scale,
  types: readonly MessageType[],
  counts: readonly number[],
  load: Partial<LoadConfig> = {},
): Promise<Measurement> {
  const figures: Record<string, number> = {};
  const { service, updates } = await startPricedService({ assets: 1, clockPeriod: '60s', ...load });
  const way = { publishPort: service.port, readPort: service.port, updates };
  for (const type of types)
    await warmUp(
      { ...way, query: `message_type=${type}` },
      SUBSCRIBERS[0],
      WARM_UP_MESSAGES[scale] / 2,
      WARM_UP_BURST,
    );
  for (const type of types)
    for (const count of counts) {
      const delays = await measureDelays({ ...way, query: `message_type=${type}` }, count, MESSAGES[scale]);
      addPercentiles(figures, `${type}, ${count} subscribers`, delays);
    }
  await service.stop();
  return { figures };
}

/** @param relay `relayed` to send each message through a second thread */
export async function measurePeer(scale: Scale, ...relay: readonly 'relayed'[]): Promise<Measurement> {
  const figures: Record<string, number> = {};
  const peer = await startPeer('uws_echo', unsignedFrame(1), ...relay);
  const updates = new Updates('evm');
  const way = { publishPort: peer.port, readPort: peer.port, query: '', updates };
  for (let i = 0; i < MESSAGE_TYPES.length; i++)
    await warmUp(way, SUBSCRIBERS[0], WARM_UP_MESSAGES[scale] / 2, WARM_UP_BURST);
  for (const count of SUBSCRIBERS) {
    const delays = await measureDelays(way, count, MESSAGES[scale]);
    addPercentiles(figures, `${count} subscribers`, delays);
  }
  addPercentiles(figures, 'echo', await measureEcho(peer, scale));
  await peer.stop();
  return { figures };
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
