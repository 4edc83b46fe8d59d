import type { LoadConfig } from '../../scripts/load/config.js';
import { Updates } from '../../scripts/load/updates.js';
import { MESSAGE_TYPES, type MessageType } from '../../src/wire/stream.js';
import type { Figures, Line, Measurement, Row, Scale } from '../harness/row.js';
import { startPeer } from '../peers/start.js';
import { addPercentiles, measureDelays, warmUp } from '../workloads/delays.js';
import { startPricedService } from '../workloads/priced_service.js';
import { unsignedFrame } from '../workloads/stream_table.js';

const MESSAGES: Readonly<Record<Scale, number>> = { full: 300, smoke: 10 };
const WARM_UP_MESSAGES: Readonly<Record<Scale, number>> = { full: 3_000, smoke: 1 };
const WARM_UP_BURST = 5;
const SUBSCRIBERS = 10;

export const latency: Row = {
  name: 'latency',
  title: 'Publish to subscriber, real_time, 200 updates a second',
  method:
    'From the moment a publisher hands a signed update to its socket until a subscriber holds the frame, over all updates ' +
    'and subscribers, on one clock: publisher and subscribers are one process. The peer is uWebSockets.js alone with the ' +
    'same client: it publishes a ready frame to the subscribers for every message. ' +
    'Both sides have had 6,000 messages before.',
  limit:
    'In the 5 ms between two messages the core sleeps and its caches go cold. By a trace, 230 µs pass between the call with an update and the first write of its frame: ' +
    'reading takes 13 µs, a signature 64 (35 when messages come without a pause), the first write 36, and each further write 3; only 9 are for the store and timeouts. ' +
    'Bare uWebSockets.js has next to no code to fetch. A core that is kept awake (`idle=poll`, `isolcpus` on bare metal) moves it.',
  rounds: 3,
  variants: {
    service: (scale) => measureService(scale, MESSAGE_TYPES),
    'bare uWS': measurePeer,
  },
  lines: () => MESSAGE_TYPES.map(line),
};

function line(type: MessageType): Line {
  return {
    name: `${type}, ${SUBSCRIBERS} subscribers`,
    unit: 'ms p50',
    variant: 'service',
    figure: `${type}: p50`,
    bound: { atMost: 0.5 },
    peers: [{ variant: 'bare uWS', figure: 'frame: p50', ratio: { atMost: 3 } }],
    shown: [
      { name: 'p99', unit: 'ms', variant: 'service', figure: `${type}: p99` },
      { name: "bare uWS's p99", unit: 'ms', variant: 'bare uWS', figure: 'frame: p99' },
    ],
  };
}

/** Measures the delay of unsigned frames. @param load additional settings of the service's load */
export async function measureUnsigned(
  scale: Scale,
  load: Partial<LoadConfig>,
): Promise<{ readonly p50: number; readonly p99: number }> {
  const { figures } = await measureService(scale, ['unsigned'], load);
  return { p50: figures['unsigned: p50']!, p99: figures['unsigned: p99']! };
}

async function measureService(
  scale: Scale,
  types: readonly MessageType[],
  load: Partial<LoadConfig> = {},
): Promise<Measurement> {
  const figures: Figures = {};
  const { service, updates } = await startPricedService({ assets: 1, clockPeriod: '60s', ...load });
  const ways = types.map((type) => {
    return { publishPort: service.port, readPort: service.port, updates, query: `message_type=${type}` };
  });
  for (const way of ways) await warmUp(way, SUBSCRIBERS, WARM_UP_MESSAGES[scale], WARM_UP_BURST);
  for (const [i, way] of ways.entries())
    addPercentiles(figures, types[i]!, await measureDelays(way, SUBSCRIBERS, MESSAGES[scale]));
  await service.stop();
  return { figures };
}

async function measurePeer(scale: Scale): Promise<Measurement> {
  const figures: Figures = {};
  const peer = await startPeer('uws_echo', [unsignedFrame(1)]);
  const way = { publishPort: peer.port, readPort: peer.port, query: '', updates: new Updates('evm') };
  await warmUp(way, SUBSCRIBERS, MESSAGE_TYPES.length * WARM_UP_MESSAGES[scale], WARM_UP_BURST);
  addPercentiles(figures, 'frame', await measureDelays(way, SUBSCRIBERS, MESSAGES[scale]));
  await peer.stop();
  return { figures };
}
