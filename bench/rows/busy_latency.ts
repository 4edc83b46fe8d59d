import { Updates } from '../../scripts/load/updates.js';
import { PUBLISH_PATHS } from '../../src/wire/paths.js';
import type { Figures, Line, Measurement, Row, Scale } from '../harness/row.js';
import { startPeer } from '../peers/start.js';
import { startBackground, UPDATES_PER_MESSAGE } from '../workloads/background.js';
import { addPercentiles, measureDelays, type Way, warmUp } from '../workloads/delays.js';
import { startPricedService } from '../workloads/priced_service.js';
import { unsignedFrame } from '../workloads/stream_table.js';

const RATES: Readonly<Record<Scale, readonly number[]>> = { full: [100, 1_000, 5_000], smoke: [100] };
const MESSAGES: Readonly<Record<Scale, number>> = { full: 400, smoke: 10 };
const WARM_UP_MESSAGES: Readonly<Record<Scale, number>> = { full: 6_000, smoke: 2 };
const WARM_UP_BURST = 5;
const SUBSCRIBERS = 10;
/** The time of the background load, in seconds. The load lasts longer than the measurement of the delays at one rate. */
const BACKGROUND_SECONDS: Readonly<Record<Scale, number>> = { full: 8, smoke: 2 };
const P50_RATIO_MAX = 2;

export const busyLatency: Row = {
  name: 'busy-latency',
  title: 'Publish to subscriber, real_time, while another publisher sends',
  method:
    'As `latency`: 200 updates a second of one publisher, unsigned frames to 10 subscribers. Meanwhile another publisher, in a process of its ' +
    `own, sends 100, 1,000 and 5,000 updates a second of ${UPDATES_PER_MESSAGE} other assets, ${UPDATES_PER_MESSAGE} a message, which the service verifies, ` +
    'aggregates, signs and stores. The peer is uWebSockets.js with what no program can leave out: it parses the measured updates and checks their hash and ' +
    'signature with the code of the service, does nothing else, and nothing with the messages of the other publisher.',
  limit:
    'By a trace, 220 µs pass between the call with an update and the first write of its frame: the code and data are not in the caches after a pause. ' +
    '64 are the check of the signature (35 without a pause), 36 the first write, 25 the acceptance of the price, 20 the frame, and only 9 the store and timeouts. ' +
    'The p99 is mostly waiting for a core: with real-time priority, which no thread of another program interrupts, it is 1 to 1.4 ms.',
  rounds: 3,
  variants: { service: measureService, 'bare uWS that verifies the update': measurePeer },
  lines: (scale) => RATES[scale].map(line),
};

function line(rate: number): Line {
  const peer = 'bare uWS that verifies the update';
  const p50 = `${nameOf(rate)}: p50`;
  const p99 = `${nameOf(rate)}: p99`;
  return {
    name: nameOf(rate),
    unit: 'ms p50',
    variant: 'service',
    figure: p50,
    peers: [{ variant: peer, figure: p50, ratio: { atMost: P50_RATIO_MAX } }],
    shown: [
      { name: 'p99', unit: 'ms', variant: 'service', figure: p99 },
      { name: "the peer's p99", unit: 'ms', variant: peer, figure: p99 },
    ],
  };
}

function nameOf(rate: number): string {
  return `${rate.toLocaleString('en-US')} other updates a second`;
}

async function measureService(scale: Scale): Promise<Measurement> {
  const { service, updates } = await startPricedService({ assets: 1 + UPDATES_PER_MESSAGE, publishers: 2 });
  const figures = await measure(scale, service.port, updates, PUBLISH_PATHS.evm);
  await service.stop();
  return { figures };
}

async function measurePeer(scale: Scale): Promise<Measurement> {
  const peer = await startPeer('uws_echo', [unsignedFrame(1), 'verified']);
  const figures = await measure(scale, peer.port, new Updates('evm'), '/sink');
  await peer.stop();
  return { figures };
}

async function measure(scale: Scale, port: number, updates: Updates, path: string): Promise<Figures> {
  const figures: Figures = {};
  const way: Way = { publishPort: port, readPort: port, query: '', updates };
  await warmUp(way, SUBSCRIBERS, WARM_UP_MESSAGES[scale], WARM_UP_BURST);
  for (const rate of RATES[scale]) {
    const stop = await startBackground({ port, path, rate, seconds: BACKGROUND_SECONDS[scale] });
    // The warm-up is needed because the first messages of the other publisher run interpreted code.
    await measureDelays(way, SUBSCRIBERS, MESSAGES[scale] / 2);
    addPercentiles(figures, nameOf(rate), await measureDelays(way, SUBSCRIBERS, MESSAGES[scale]));
    await stop();
  }
  return figures;
}
