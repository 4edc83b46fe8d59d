import { writeConfig } from '../../scripts/load/config.js';
import { type AnswerTimes, measureAnswers } from '../../scripts/load/requests.js';
import { startService } from '../../scripts/load/server_process.js';
import { fittedExponent } from '../../scripts/load/statistics.js';
import { storePast } from '../../scripts/load/stored_past.js';
import { NS_PER_SECOND } from '../../src/model/time.js';
import { MINUTE_S } from '../../src/wire/resolution.js';
import type { Figures, Line, Measurement, Row, Scale } from '../harness/row.js';
import { type FrameTimes, firstAssets, measurePricedFrames, type Readers } from '../workloads/frames.js';
import { measureIngest } from '../workloads/ingest.js';
import { SET_ASSETS, setOf } from './distinct_sets.js';
import { UPDATES, WARM_UP_UPDATES } from './evm_ingest.js';
import { measureLogOf } from './public_log.js';
import { historyPath } from './rest.js';

/** A dimension in which a deployment grows, and the cost of a unit of work by its size. */
interface Curve {
  readonly sizes: readonly number[];
  readonly unit: string;
  /** The largest allowed exponent. Default: {@link EXPONENT_MAX}. */
  readonly atMost?: number;
  /** Returns the CPU time of a unit of work, in µs. The cost of the whole work is this time multiplied by the size. */
  readonly costMicros: (size: number, scale: Scale) => Promise<number>;
}

const CURVES: Readonly<Record<string, Curve>> = {
  assets: {
    sizes: [100, 1_000, 10_000],
    unit: 'µs an update',
    atMost: 1.1,
    costMicros: (assets, scale) => costOfUpdate(scale, assets, 1),
  },
  'publishers per asset': {
    sizes: [1, 10, 50],
    unit: 'µs an update',
    atMost: 1.06,
    costMicros: (publishers, scale) => costOfUpdate(scale, 20, publishers),
  },
  readers: {
    sizes: [1_000, 3_000, 10_000],
    unit: 'µs a frame',
    costMicros: (count, scale) => costOfFrame(scale, 10, { count, assetsOf: () => firstAssets(10) }),
  },
  'distinct sets': {
    sizes: [250, 500, 1_000],
    unit: 'µs a frame',
    costMicros: (count, scale) => costOfFrame(scale, SET_ASSETS, { count, assetsOf: setOf }),
  },
  'candles asked': { sizes: [1_000, 3_000, 10_000], unit: 'µs a candle', costMicros: costOfCandle },
  'batches in the public log': { sizes: [100, 300, 1_000], unit: 'µs a batch', costMicros: costOfBatch },
};
const SMOKE_SIZES = [2, 4];
const EXPONENT_MAX = 1.15;
const FRAME_TIMES: Readonly<Record<Scale, FrameTimes>> = {
  full: { settleMs: 1_500, measureMs: 1_500 },
  smoke: { settleMs: 20, measureMs: 210 },
};
const ANSWER_TIMES: Readonly<Record<Scale, AnswerTimes>> = {
  full: { warmUpMs: 1_500, measureMs: 700 },
  smoke: { warmUpMs: 10, measureMs: 30 },
};
const BATCH_AGGREGATES = 400;
const EXPONENT = 'exponent';

export const growth: Row = {
  name: 'growth',
  title: 'Cost growth: CPU time of the service as one dimension of its work grows',
  method:
    'Assets: accepted updates, 50 a message, by the size of the catalogue. Publishers: accepted updates of 20 assets, by the number of publishers, each of which makes a median of all. ' +
    'Readers: unsigned frames of 10 assets at 100 ms, by the number of connections; distinct sets: the same of 20 assets, different for each connection. ' +
    'Candles: an answer of REST, which is asked again and again, by the number of candles. Batches: writing and auditing the public log with 400 aggregates in a batch. ' +
    'The exponent is the slope of the straight line through the logarithms of size and cost of the whole work, by least squares: 1 means that the cost grows as the size. ' +
    'The clock signs no aggregate meanwhile. Of updates, 60,000 count, after as many that do not: V8 still compiles after the first 18,000.',
  limit:
    'On Node 24, an update took 16 µs at 100 assets and 40 µs at 10,000: 9 and 18 on the main thread, 0.3 and 10 on the threads of V8, 6.1 and 7.5 for ' +
    'the verification, and less than 0.2 and 3.6 on the threads that compress and write. The threads of V8 mark 115 MB of live objects, three times in 2.5 s: ' +
    'without them (`--no-concurrent-marking`) an update takes 36 µs. By a profile, the main thread spends 3.9 µs more on moving a full segment of the ' +
    'log into the past, 3 on messages and acceptance, because its data do not stay in the caches, 2.3 on the lines of the log, 1.6 on the collection, and 1.1 on ' +
    'compressed frames. The log writes each changed input once in 50 ms: at this rate, a line for 25 updates at 100 assets, and for each update at 10,000.',
  rounds: 2,
  variants: Object.fromEntries(
    Object.entries(CURVES).map(([name, curve]) => [name, (scale) => measureCurve(scale, name, curve)]),
  ),
  lines: (scale) => Object.entries(CURVES).map(([name, curve]) => line(scale, name, curve)),
};

function figureOf(name: string, size: number): string {
  return `${size.toLocaleString('en-US')} ${name}`;
}

function sizesOf(scale: Scale, { sizes }: Curve): readonly number[] {
  return scale === 'full' ? sizes : SMOKE_SIZES;
}

function line(scale: Scale, name: string, curve: Curve): Line {
  const shown = sizesOf(scale, curve).map((size) => {
    const figure = figureOf(name, size);
    return { name: figure, unit: curve.unit, variant: name, figure };
  });
  const { atMost = EXPONENT_MAX } = curve;
  return { name, unit: EXPONENT, variant: name, figure: EXPONENT, bound: { atMost }, shown };
}

async function measureCurve(scale: Scale, name: string, curve: Curve): Promise<Measurement> {
  const sizes = sizesOf(scale, curve);
  const figures: Figures = {};
  for (const size of sizes) figures[figureOf(name, size)] = await curve.costMicros(size, scale);
  const costs = sizes.map((size) => size * figures[figureOf(name, size)]!);
  return { figures: { ...figures, [EXPONENT]: fittedExponent(sizes, costs) } };
}

async function costOfUpdate(scale: Scale, assets: number, publishers: number): Promise<number> {
  const usage = await measureIngest({
    signatureType: 'evm',
    assets,
    publishers,
    updatesPerMessage: Math.min(50, assets),
    updates: UPDATES[scale],
    // Each asset needs a price of each publisher before the measurement.
    warmUpUpdates: Math.max(WARM_UP_UPDATES[scale], assets * publishers),
    clockPeriod: '24h',
  });
  return 1e6 / usage.updatesPerCpuSecond;
}

async function costOfFrame(scale: Scale, assets: number, those: Omit<Readers, 'query'>): Promise<number> {
  const readers = { query: 'channel=100ms', ...those };
  const usage = await measurePricedFrames({ assets }, readers, FRAME_TIMES[scale]);
  return 1e6 / usage.framesPerCpuSecond;
}

async function costOfCandle(candles: number, scale: Scale): Promise<number> {
  const { file } = writeConfig({ signatureType: 'evm', assets: 1, publishers: 1, clockPeriod: '60s' });
  const minuteNs = BigInt(MINUTE_S) * NS_PER_SECOND;
  const { times } = await storePast(file, { aggregates: candles, stepNs: minuteNs, unitNs: minuteNs });
  const toS = Number(times.at(-1)! / NS_PER_SECOND) + MINUTE_S;
  const service = await startService(file);
  const usage = await measureAnswers(service, historyPath(0, toS, candles), ANSWER_TIMES[scale]);
  await service.stop();
  return 1e6 / (usage.answersPerCpuSecond * candles);
}

async function costOfBatch(batches: number): Promise<number> {
  const { writtenS, auditedS } = await measureLogOf(BATCH_AGGREGATES, { warmUpS: 1, seconds: batches });
  return (1e6 * (writtenS + auditedS)) / batches;
}
