import { type AnswerTimes, measureAnswers } from '../../scripts/load/requests.js';
import type { Figures, Line, Measurement, Row, Scale } from '../harness/row.js';
import { type FrameTimes, firstAssets, measurePricedFrames } from '../workloads/frames.js';
import { measureService as measureSets } from './distinct_sets.js';
import { measureUnsigned } from './latency.js';
import { latestPath, startRestService } from './rest.js';

const TIMES: Readonly<Record<Scale, AnswerTimes>> = {
  full: { warmUpMs: 3_000, measureMs: 1_500 },
  smoke: { warmUpMs: 10, measureMs: 30 },
};
/** The numbers of assets in an answer, by figure. */
const REST_CASES = { 'latest of 1 asset': 1, 'latest of 100 assets': 100 } as const;
const READERS: Readonly<Record<Scale, number>> = { full: 5_000, smoke: 10 };
const READER_ASSETS = 10;
const READER_TIMES: Readonly<Record<Scale, FrameTimes>> = {
  full: { settleMs: 1_500, measureMs: 1_000 },
  smoke: { settleMs: 20, measureMs: 60 },
};

const SETS = '1,000 signed sets';
const FAN_OUT = '5,000 readers of one group';
const LATENCY = 'publisher to subscriber';

/** The smallest allowed ratio to one thread. On few cores, threads share caches with the load. */
const THREADS_RATIO_MIN = 0.85;

export const threads: Row = {
  name: 'threads',
  title: 'Two threads that serve, against one',
  method:
    'The loads of `rest`, `distinct-sets`, `fan-out` (5,000 readers, every 100 ms) and `latency` (10 subscribers, unsigned) with `listen.threads` 1 and 2. ' +
    'The work is divided by the CPU time of all threads of the service, because on two cores the load needs one of them.',
  limit:
    'Most of a long answer, and of a frame, is the kernel that writes to the socket. On two cores, three busy threads and the load share the caches, so each write finds them colder. ' +
    'A price passes through three threads, and waits for one of the two cores twice. uWebSockets.js alone needs 1.6 to 1.8 times as long when messages pass through three threads.',
  rounds: 3,
  variants: {
    '1 thread': (scale) => measure(scale, 1),
    '2 threads': (scale) => measure(scale, 2),
  },
  lines: () => [
    ...Object.keys(REST_CASES).map((name) =>
      line(name, 'answers/s per core', '2 threads', THREADS_RATIO_MIN),
    ),
    line(SETS, 'frames/s per core', '2 threads', THREADS_RATIO_MIN),
    line(FAN_OUT, 'frames/s per core', '2 threads', THREADS_RATIO_MIN),
    line(LATENCY, 'ms p50', '2 threads'),
  ],
};

function line(figure: string, unit: string, variant: string, atLeast?: number): Line {
  const ratio = atLeast !== undefined && { ratio: { atLeast } };
  return { name: figure, unit, variant, figure, peers: [{ variant: '1 thread', figure, ...ratio }] };
}

async function measure(scale: Scale, threads: number): Promise<Measurement> {
  return {
    figures: {
      ...(await measureRest(scale, threads)),
      [SETS]: (await measureSets(scale, threads)).figures['per core']!,
      [FAN_OUT]: await measureFanOut(scale, threads),
      [LATENCY]: (await measureUnsigned(scale, { threads })).p50,
    },
  };
}

async function measureRest(scale: Scale, threads: number): Promise<Figures> {
  const service = await startRestService(threads);
  const figures: Figures = {};
  for (const [name, assets] of Object.entries(REST_CASES)) {
    const usage = await measureAnswers(service, latestPath(assets), TIMES[scale]);
    figures[name] = usage.answersPerCpuSecond;
  }
  await service.stop();
  return figures;
}

async function measureFanOut(scale: Scale, threads: number): Promise<number> {
  const assetsOf = () => firstAssets(READER_ASSETS);
  const readers = { query: 'channel=100ms', count: READERS[scale], assetsOf };
  const usage = await measurePricedFrames({ assets: READER_ASSETS, threads }, readers, READER_TIMES[scale]);
  return usage.framesPerCpuSecond;
}
