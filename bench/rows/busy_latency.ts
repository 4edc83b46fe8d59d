import { startPricedService } from '../../scripts/load/priced_service.js';
import { Updates } from '../../scripts/load/updates.js';
import { PUBLISH_PATHS } from '../../src/wire/paths.js';
import type { Figures, Line, Measurement, Row, Scale } from '../harness/row.js';
import { startPeer } from '../peers/start.js';
import { startBackground, UPDATES_PER_MESSAGE } from '../workloads/background.js';
import { addPercentiles, measureDelays, type Way, warmUp } from '../workloads/delays.js';
import { unsignedFrame } from '../workloads/stream_table.js';

const RATES: Readonly<Record<Scale, readonly number[]>> = { full: [100, 1_000, 5_000], smoke: [100] };
const MESSAGES: Readonly<Record<Scale, number>> = { full: 400, smoke: 10 };
const WARM_UP_MESSAGES: Readonly<Record<Scale, number>> = { full: 15_000, smoke: 3 };
const SUBSCRIBERS = 10;
/** The time of the background load, in seconds. The load lasts longer than the measurement of the delays at one rate. */
const BACKGROUND_SECONDS: Readonly<Record<Scale, number>> = { full: 8, smoke: 2 };
const RATIO_MAX = { p50: 1.5, p99: 3 } as const;
const PEER = 'bare uWS that verifies the update';

export const busyLatency: Row = {
  name: 'busy-latency',
  title: 'Publish to subscriber, real_time, while another publisher sends',
  method:
    'As `latency`: 200 updates a second of one publisher, unsigned frames to 10 subscribers. Meanwhile another publisher, in a process of its ' +
    `own, sends 100, 1,000 and 5,000 updates a second of ${UPDATES_PER_MESSAGE} other assets, ${UPDATES_PER_MESSAGE} a message, which the service verifies, ` +
    'aggregates, signs and stores. The peer is uWebSockets.js with what no program can leave out: it parses the measured updates and checks their hash and ' +
    'signature with the code of the service, does nothing else, and nothing with the messages of the other publisher.',
  limit:
    'The README of the bench shows where the time of one update goes. The p99 is mostly waiting for a core: ' +
    'with real-time priority, which no thread of another program interrupts, it is 1 to 1.4 ms.',
  rounds: 3,
  variants: { service: measureService, [PEER]: measurePeer },
  lines: (scale) => RATES[scale].flatMap((rate) => [line(rate, 'p50'), line(rate, 'p99')]),
};

function line(rate: number, percentile: 'p50' | 'p99'): Line {
  const figure = `${nameOf(rate)}: ${percentile}`;
  return {
    name: nameOf(rate),
    unit: `ms ${percentile}`,
    variant: 'service',
    figure,
    peers: [{ variant: PEER, figure, ratio: { atMost: RATIO_MAX[percentile] } }],
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
  const peer = await startPeer('uws_echo', [unsignedFrame(1)]);
  const figures = await measure(scale, peer.port, new Updates('evm'), '/sink');
  await peer.stop();
  return { figures };
}

async function measure(scale: Scale, port: number, updates: Updates, path: string): Promise<Figures> {
  const figures: Figures = {};
  const way: Way = { publishPort: port, readPort: port, query: '', updates };
  await warmUp(way, SUBSCRIBERS, WARM_UP_MESSAGES[scale]);
  for (const rate of RATES[scale]) {
    const stop = await startBackground({ port, path, rate, seconds: BACKGROUND_SECONDS[scale] });
    // The warm-up is needed because the first messages of the other publisher run interpreted code.
    await measureDelays(way, SUBSCRIBERS, MESSAGES[scale] / 2);
    addPercentiles(figures, nameOf(rate), await measureDelays(way, SUBSCRIBERS, MESSAGES[scale]));
    await stop();
  }
  return figures;
}
