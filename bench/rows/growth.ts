import { openStreams } from '../../scripts/load/streams.js';
import { measureUsage } from '../../scripts/load/usage.js';
import { pause } from '../../scripts/load/wait.js';
import type { Line, Measurement, Row, Scale, Source } from '../harness/row.js';
import { measureIngest } from '../workloads/ingest.js';
import { startPricedService } from '../workloads/priced_service.js';

type Dimension = 'assets' | 'subscribers' | 'publishers per asset';

const SIZES: Readonly<Record<Scale, Readonly<Record<Dimension, readonly number[]>>>> = {
  full: {
    assets: [100, 1_000, 10_000],
    subscribers: [10, 100, 1_000, 10_000],
    'publishers per asset': [1, 10, 50],
  },
  smoke: { assets: [20], subscribers: [4], 'publishers per asset': [2] },
};
const UPDATES: Readonly<Record<Scale, number>> = { full: 60_000, smoke: 100 };
/** The smallest number of updates after which V8 has compiled the code on all measured threads. */
const WARM_UP_UPDATES: Readonly<Record<Scale, number>> = { full: 60_000, smoke: 50 };
const SUBSCRIBERS_MEASURE_MS: Readonly<Record<Scale, number>> = { full: 1_000, smoke: 210 };
const SETTLE_MS: Readonly<Record<Scale, number>> = { full: 500, smoke: 20 };
/** The largest allowed ratio between the cost of a unit of work at the largest size and the cost at the cheapest size. */
const UNIT_COST_RATIO_MAX: Readonly<Record<Dimension, number>> = {
  assets: 1.6,
  subscribers: 1.5,
  'publishers per asset': 1.25,
};

const UNIT_OF: Readonly<Record<Dimension, string>> = {
  assets: 'µs an update',
  subscribers: 'µs a frame',
  'publishers per asset': 'µs an update',
};

export const growth: Row = {
  name: 'growth',
  title: 'Cost growth: CPU time of the service by unit of work',
  method:
    'Assets: accepted updates, 50 a message, by the size of the catalogue. Subscribers: unsigned frames of 10 assets ' +
    'delivered at 100 ms, by the number of connections. Publishers: accepted updates of 20 assets, by the number of publishers, each ' +
    'of which makes a median of all. A unit of work at the largest size must cost at most 1.5 times what it costs at the ' +
    'cheapest of the smaller ones, an update at 10,000 assets at most 1.6 times, and an update of 50 publishers at most 1.25 times: at the smallest, what the service does ' +
    'anyway weighs most. No aggregate is signed by the clock while updates are measured. The figure is of 60,000 updates after as many that are not counted, ' +
    'as in `evm-ingest`: a service runs for days, and V8 still compiles after the first 18,000.',
  limit:
    'With few assets, several updates of an asset come between two commits of the store, which writes the newest only; with 10,000 ' +
    'each is written. By a profile (`perf`) of 240,000 updates, an update cost 18 µs more at 10,000 assets than at 100: 3.4 were the verification, ' +
    'whose tables of the key do not stay in the caches beside all else, 3.3 the kernel, which made most of the time new pages for objects that survive a collection, ' +
    '2.8 the collection, 3 the store of that time, 1.3 larger maps; the rest is spread over all steps. Of what survived, 30 % were the lists of the replay ' +
    'windows, which grow and shrink each second. As numbers in blocks, with each input as bytes in a row, they cost 6 µs an update less at 10,000 assets; that was not worth a second form ' +
    'of each input and window.',
  rounds: 2,
  variants: {
    assets: (scale) => measureEach(scale, 'assets', (assets) => costOfUpdate(scale, assets, 1, 50)),
    subscribers: (scale) => measureEach(scale, 'subscribers', (count) => costOfFrame(scale, count)),
    'publishers per asset': (scale) =>
      measureEach(scale, 'publishers per asset', (publishers) => costOfUpdate(scale, 20, publishers, 20)),
  },
  lines: (scale) => (Object.keys(UNIT_OF) as Dimension[]).flatMap((dimension) => linesOf(scale, dimension)),
};

function source(dimension: Dimension, size: number): Source {
  return { variant: dimension, figure: `${size.toLocaleString('en-US')} ${dimension}` };
}

/** Returns the source of the smallest cost among all sizes except the largest. If there is only one size, returns its cost. */
function cheapest(dimension: Dimension): Source {
  return { variant: dimension, figure: 'cheapest of the smaller sizes' };
}

function linesOf(scale: Scale, dimension: Dimension): Line[] {
  const sizes = SIZES[scale][dimension];
  return sizes.map((size, i) => ({
    name: source(dimension, size).figure,
    unit: UNIT_OF[dimension],
    ours: source(dimension, size),
    peers:
      i < sizes.length - 1
        ? []
        : [
            {
              name: 'the cheapest of the smaller sizes',
              source: cheapest(dimension),
              ratio: { atMost: UNIT_COST_RATIO_MAX[dimension] },
            },
          ],
  }));
}

async function measureEach(
  scale: Scale,
  dimension: Dimension,
  costMicros: (size: number) => Promise<number>,
): Promise<Measurement> {
  const figures: Record<string, number> = {};
  for (const size of SIZES[scale][dimension])
    figures[source(dimension, size).figure] = await costMicros(size);
  figures[cheapest(dimension).figure] = Math.min(
    ...Object.values(figures).slice(0, Math.max(1, SIZES[scale][dimension].length - 1)),
  );
  return { figures };
}

async function costOfUpdate(
  scale: Scale,
  assets: number,
  publishers: number,
  updatesPerMessage: number,
): Promise<number> {
  const usage = await measureIngest({
    signatureType: 'evm',
    assets,
    publishers,
    updatesPerMessage: Math.min(updatesPerMessage, assets),
    updates: UPDATES[scale],
    // Each asset needs a price of each publisher before the measurement.
    warmUpUpdates: Math.max(WARM_UP_UPDATES[scale], assets * publishers),
    clockPeriod: '24h',
  });
  return 1e6 / usage.updatesPerCpuSecond;
}

async function costOfFrame(scale: Scale, subscribers: number): Promise<number> {
  const { service } = await startPricedService({ assets: 10, clockPeriod: '60s' });
  const streams = await openStreams({
    port: service.port,
    query: 'channel=100ms',
    count: subscribers,
    assetsOf: () => Array.from({ length: 10 }, (_, asset) => asset),
  });
  await pause(SETTLE_MS[scale]);
  const framesBefore = streams.frames;
  const end = measureUsage(service);
  await pause(SUBSCRIBERS_MEASURE_MS[scale]);
  const frames = streams.frames - framesBefore;
  const { serverCpuSeconds } = end();
  streams.close();
  await service.stop();
  return (serverCpuSeconds * 1e6) / frames;
}
