import type { Figures, Line, Measurement, Row, Scale, Source } from '../harness/row.js';
import { firstAssets, measureFrames } from '../workloads/frames.js';
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
/** The unit of work of each dimension, and the largest ratio between its cost at the largest size and at the cheapest other size. */
const WORK: Readonly<Record<Dimension, { readonly unit: string; readonly atMost: number }>> = {
  assets: { unit: 'µs an update', atMost: 1.6 },
  subscribers: { unit: 'µs a frame', atMost: 1.5 },
  'publishers per asset': { unit: 'µs an update', atMost: 1.25 },
};
const UPDATES: Readonly<Record<Scale, number>> = { full: 60_000, smoke: 100 };
/** The smallest number of updates after which V8 has compiled the code on all measured threads. */
const WARM_UP_UPDATES: Readonly<Record<Scale, number>> = { full: 60_000, smoke: 50 };
const FRAME_ASSETS = 10;
const FRAME_TIMES: Readonly<Record<Scale, { readonly settleMs: number; readonly measureMs: number }>> = {
  full: { settleMs: 500, measureMs: 1_000 },
  smoke: { settleMs: 20, measureMs: 210 },
};
const CHEAPEST = 'the cheapest of the smaller sizes';

export const growth: Row = {
  name: 'growth',
  title: 'Cost growth: CPU time of the service by unit of work',
  method:
    'Assets: accepted updates, 50 a message, by the size of the catalogue. Subscribers: unsigned frames of 10 assets at 100 ms, by the number of connections. ' +
    'Publishers: accepted updates of 20 assets, by the number of publishers, each of which makes a median of all. ' +
    'A unit of work at the largest size is compared with the cheapest of the smaller ones. The clock signs no aggregate meanwhile. ' +
    'The figure is of 60,000 updates after as many that are not counted: V8 still compiles after the first 18,000.',
  limit:
    'By a profile, an update cost 18 µs more at 10,000 assets than at 100. 3.4 were the verification, whose tables do not stay in the caches, ' +
    '3.3 the kernel’s new pages for objects that survive a collection, 2.8 the collection, and 1.3 larger maps; the rest is spread over all steps.',
  rounds: 2,
  variants: {
    assets: (scale) => measureEach(scale, 'assets', (assets) => costOfUpdate(scale, assets, 1, 50)),
    subscribers: (scale) => measureEach(scale, 'subscribers', (count) => costOfFrame(scale, count)),
    'publishers per asset': (scale) =>
      measureEach(scale, 'publishers per asset', (publishers) => costOfUpdate(scale, 20, publishers, 20)),
  },
  lines: (scale) => (Object.keys(WORK) as Dimension[]).flatMap((dimension) => linesOf(scale, dimension)),
};

function source(dimension: Dimension, size: number): Source {
  return { variant: dimension, figure: `${size.toLocaleString('en-US')} ${dimension}` };
}

function linesOf(scale: Scale, dimension: Dimension): Line[] {
  const { unit, atMost } = WORK[dimension];
  return SIZES[scale][dimension].map((size, i, sizes) => {
    const isLargest = i === sizes.length - 1;
    const peer = { name: CHEAPEST, variant: dimension, figure: CHEAPEST, ratio: { atMost } };
    const one = source(dimension, size);
    return { name: one.figure, unit, ...one, ...(isLargest && { peers: [peer] }) };
  });
}

async function measureEach(
  scale: Scale,
  dimension: Dimension,
  costMicros: (size: number) => Promise<number>,
): Promise<Measurement> {
  const figures: Figures = {};
  const sizes = SIZES[scale][dimension];
  for (const size of sizes) figures[source(dimension, size).figure] = await costMicros(size);
  const smaller = Object.values(figures).slice(0, Math.max(1, sizes.length - 1));
  return { figures: { ...figures, [CHEAPEST]: Math.min(...smaller) } };
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

async function costOfFrame(scale: Scale, count: number): Promise<number> {
  const { service } = await startPricedService({ assets: FRAME_ASSETS, clockPeriod: '60s' });
  const readers = { query: 'channel=100ms', count, assetsOf: () => firstAssets(FRAME_ASSETS) };
  const { framesPerCpuSecond } = await measureFrames(service, readers, FRAME_TIMES[scale]);
  await service.stop();
  return 1e6 / framesPerCpuSecond;
}
