import { Updates } from '../../scripts/load/updates.js';
import { PUBLISH_PATHS } from '../../src/wire/paths.js';
import type { Bound, Line, Measurement, Row, Scale } from '../harness/row.js';
import { startPeer } from '../peers/start.js';
import { startBackground, UPDATES_PER_MESSAGE } from '../workloads/background.js';
import { addPercentiles, measureDelays, type Way, warmUp } from '../workloads/delays.js';
import { startPricedService } from '../workloads/priced_service.js';
import { unsignedFrame } from '../workloads/unsigned_frame.js';

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
    'aggregates, signs and stores. The peer is uWebSockets.js alone, which is sent the same messages and does nothing with those of the ' +
    'other publisher. A second peer shows what no program can leave out: it parses the measured updates and checks their hash and signature with the code of the service, and does nothing else.',
  limit:
    'The bound compares with a server that verifies the measured updates and does nothing else. A server that only parses the update and checks its hash and signature takes 1.5 to 1.9 times as long at the median as one that does not. ' +
    'By a trace, 220 µs pass between the call with an update and the first write of its frame when 100 or 1,000 others come in a second: the code and data are not in the caches after a pause. ' +
    '13 take its text, 8 charge its token, 13 read it, 16 pass the gate, 8 are its hash, 64 check its signature (35 without a pause), 25 accept the price, 20 make the frame, 36 are the first write. ' +
    'An unsigned frame waits for no callback or promise before that write, and only 9 of the 220 µs are for the store and timeouts. ' +
    'The rest, 0.15 ms, is as long with the peer. That is the p50. ' +
    'The p99 is for the most part waiting for a core. On a machine whose cores other programs also use, the main thread waits at 5,000 others a second for threads of V8 and of the pool 14 to 20 ms of each second, 5 to 7 times a second longer than 1 ms: the kernel lets them use up their time slices. ' +
    'A short slice of the main thread takes the p90 from 0.97 to 0.75 ms (medians of 8 pairs of runs); a system call by koffi set it once, which is not worth 0.2 ms. ' +
    'With real-time priority, which no thread of another program interrupts, the p99 is 1 to 1.4 ms. Collections of young objects take 1 to 2 ms, 0.5 to 2 times a second, and longer while their helpers wait for a core. ' +
    'A lower priority for the threads of V8, a smaller young generation and large pages did not help.',
  rounds: 3,
  variants: {
    service: measureService,
    'bare uWS': (scale) => measurePeer(scale),
    'verifying uWS': (scale) => measurePeer(scale, 'verified'),
  },
  lines: (scale) =>
    RATES[scale].flatMap((rate) => [line(rate, 'p50', { atMost: P50_RATIO_MAX }), line(rate, 'p99')]),
};

function line(rate: number, percentile: 'p50' | 'p99', ratio?: Bound): Line {
  const figure = `${nameOf(rate)}: ${percentile}`;
  return {
    name: nameOf(rate),
    unit: `ms ${percentile}`,
    ours: { variant: 'service', figure },
    peers: [
      { name: 'bare uWS', source: { variant: 'bare uWS', figure } },
      {
        name: 'bare uWS that verifies the update',
        source: { variant: 'verifying uWS', figure },
        ...(ratio && { ratio }),
      },
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

async function measurePeer(scale: Scale, ...mode: string[]): Promise<Measurement> {
  const peer = await startPeer('uws_echo', unsignedFrame(1), ...mode);
  const figures = await measure(scale, peer.port, new Updates('evm'), '/sink');
  await peer.stop();
  return { figures };
}

async function measure(
  scale: Scale,
  port: number,
  updates: Updates,
  path: string,
): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
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
