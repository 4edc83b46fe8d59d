import type { LoadConfig } from '../../scripts/load/config.js';
import { startPricedService } from '../../scripts/load/priced_service.js';
import { Updates } from '../../scripts/load/updates.js';
import { MESSAGE_TYPES, type MessageType } from '../../src/wire/stream.js';
import type { Figures, Line, Measurement, Row, Scale } from '../harness/row.js';
import { startPeer } from '../peers/start.js';
import { addPercentiles, measureDelays, warmUp } from '../workloads/delays.js';
import { unsignedFrame } from '../workloads/stream_table.js';

const MESSAGES: Readonly<Record<Scale, number>> = { full: 300, smoke: 10 };
const WARM_UP_MESSAGES: Readonly<Record<Scale, number>> = { full: 15_000, smoke: 3 };
const SUBSCRIBERS = 10;
const PEER = 'bare uWS that verifies the update';

export const latency: Row = {
  name: 'latency',
  title: 'Publish to subscriber, real_time, 200 updates a second',
  method:
    'From the moment a publisher hands a signed update to its socket until a subscriber holds the frame, over all updates ' +
    'and subscribers, on one clock: publisher and subscribers are one process. The peer is uWebSockets.js with the ' +
    'same client and what no program can leave out: it parses each update, checks its hash and signature with the code of the service, ' +
    'signs if the frame is signed, and publishes a ready frame. Both sides have had 15,000 messages of each type before.',
  limit:
    'The core sleeps in the 5 ms between two messages, and its caches go cold. The README of the bench shows where the time goes. ' +
    'Bare uWebSockets.js has less code to fetch. A core that is kept awake (`idle=poll`, `isolcpus` on bare metal) moves it.',
  rounds: 3,
  variants: {
    service: (scale) => measureService(scale, MESSAGE_TYPES),
    [PEER]: measurePeer,
  },
  lines: () => MESSAGE_TYPES.map(line),
};

function line(type: MessageType): Line {
  return {
    name: `${type}, ${SUBSCRIBERS} subscribers`,
    unit: 'ms p50',
    variant: 'service',
    figure: `${type}: p50`,
    peers: [{ variant: PEER, figure: `${type}: p50`, ratio: { atMost: 1.5 } }],
    shown: [
      { name: 'p99', unit: 'ms', variant: 'service', figure: `${type}: p99` },
      { name: "the peer's p99", unit: 'ms', variant: PEER, figure: `${type}: p99` },
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
  for (const way of ways) await warmUp(way, SUBSCRIBERS, WARM_UP_MESSAGES[scale]);
  for (const [i, way] of ways.entries())
    addPercentiles(figures, types[i]!, await measureDelays(way, SUBSCRIBERS, MESSAGES[scale]));
  await service.stop();
  return { figures };
}

async function measurePeer(scale: Scale): Promise<Measurement> {
  const figures: Figures = {};
  for (const type of MESSAGE_TYPES) {
    const peer = await startPeer('uws_echo', [unsignedFrame(1), ...(type === 'unsigned' ? [] : ['signed'])]);
    const way = { publishPort: peer.port, readPort: peer.port, query: '', updates: new Updates('evm') };
    await warmUp(way, SUBSCRIBERS, WARM_UP_MESSAGES[scale]);
    addPercentiles(figures, type, await measureDelays(way, SUBSCRIBERS, MESSAGES[scale]));
    await peer.stop();
  }
  return { figures };
}
