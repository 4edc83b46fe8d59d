import { availableParallelism } from 'node:os';
import { fetchBody } from '../../scripts/load/fetch_body.js';
import type { Figures, Line, Measurement, Row, Scale } from '../harness/row.js';
import { firstAssets, measureFrames } from '../workloads/frames.js';
import { startPricedService } from '../workloads/priced_service.js';
import { requestFromProcesses } from '../workloads/request_processes.js';
import { measureService as measureSets } from './distinct_sets.js';
import { measureUnsigned } from './latency.js';
import { latestPath, startRestService } from './rest.js';

/** The number of connections of each client process. */
const CONNECTIONS = 32;
const WARM_UP_MS: Readonly<Record<Scale, number>> = { full: 3_000, smoke: 10 };
const MEASURE_MS: Readonly<Record<Scale, number>> = { full: 1_500, smoke: 30 };
/** The numbers of assets in an answer, by figure. */
const REST_CASES = { 'latest of 1 asset': 1, 'latest of 100 assets': 100 } as const;
const READERS: Readonly<Record<Scale, number>> = { full: 5_000, smoke: 10 };
const READER_ASSETS = 10;
const READER_TIMES: Readonly<Record<Scale, { readonly settleMs: number; readonly measureMs: number }>> = {
  full: { settleMs: 1_500, measureMs: 1_000 },
  smoke: { settleMs: 20, measureMs: 60 },
};

const SETS = '1,000 signed sets';
const FAN_OUT = '5,000 readers of one group';
const LATENCY = 'publisher to subscriber';

/**
 * The number of threads of the variant that shows a gain or loss from threads. The next constant is the number of cores that this
 * variant needs for the threads, the main thread, the crypto threads and the load.
 */
const MORE_THREADS = 4;
const MORE_CORES_MIN = 8;
const MORE = `${MORE_THREADS} threads`;
/** The smallest allowed ratio to one thread. On few cores, threads share caches with the load. */
const THREADS_RATIO_MIN = 0.85;
/**
 * The smallest ratio of the answers with {@link MORE_THREADS} threads to the answers with one thread. `listen.threads: auto` may
 * become more than 1 only above this ratio.
 */
const GAIN_MIN = 2;

export const threads: Row = {
  name: 'threads',
  title: 'Two threads that serve, against one',
  method:
    'The loads of `rest`, `distinct-sets`, `fan-out` (5,000 readers, every 100 ms) and `latency` (10 subscribers, unsigned) with `listen.threads` 1 and 2. ' +
    'The work is divided by the CPU time of all threads of the service, because on two cores the load needs one of them. ' +
    'Requests come from one process with 32 connections for each thread. With eight or more cores the lines “in all” compare the answers a second of four threads with those of one. ' +
    '`listen.threads: auto` is 1 until such a machine shows a gain: run `npm ci && npm run bench -- threads` there, with nothing else running, and send in `bench/results.json`.',
  limit:
    'Most of a long answer, and of a frame, is the kernel that writes to the socket. On two cores, three busy threads and the load share the caches, so each write finds them colder. ' +
    'A price passes through three threads, and waits for one of the two cores twice. uWebSockets.js alone needs 1.6 to 1.8 times as long when messages pass through three threads.',
  rounds: 3,
  variants: {
    '1 thread': (scale) => measure(scale, 1),
    '2 threads': (scale) => measure(scale, 2),
    [MORE]: async (scale) =>
      hasManyCores()
        ? measure(scale, MORE_THREADS)
        : { figures: {}, missing: `it needs ${MORE_CORES_MIN} cores` },
  },
  lines: () => [
    ...Object.keys(REST_CASES).map((name) =>
      line(name, 'answers/s per core', '2 threads', THREADS_RATIO_MIN),
    ),
    line(SETS, 'frames/s per core', '2 threads', THREADS_RATIO_MIN),
    line(FAN_OUT, 'frames/s per core', '2 threads', THREADS_RATIO_MIN),
    line(LATENCY, 'ms p50', '2 threads'),
    ...Object.keys(REST_CASES).map((name) => line(inAll(name), 'answers/s', MORE, GAIN_MIN)),
  ],
};

function hasManyCores(): boolean {
  return availableParallelism() >= MORE_CORES_MIN;
}

function line(figure: string, unit: string, variant: string, atLeast?: number): Line {
  const ratio = atLeast !== undefined && { ratio: { atLeast } };
  return { name: figure, unit, variant, figure, peers: [{ variant: '1 thread', figure, ...ratio }] };
}

function inAll(figure: string): string {
  return `${figure}, in all`;
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
  const { port } = service;
  const figures: Figures = {};
  for (const [name, assets] of Object.entries(REST_CASES)) {
    const path = latestPath(assets);
    await fetchBody(port, path);
    const request = async (processes: number) => {
      const load = { port, path, processes, connections: CONNECTIONS };
      await requestFromProcesses({ ...load, durationMs: WARM_UP_MS[scale] });
      const beforeSeconds = service.cpuSeconds();
      const requests = await requestFromProcesses({ ...load, durationMs: MEASURE_MS[scale] });
      return { requests, cpuSeconds: service.cpuSeconds() - beforeSeconds };
    };
    const { requests, cpuSeconds } = await request(threads);
    figures[name] = requests / cpuSeconds;
    if (hasManyCores())
      figures[inAll(name)] = (await request(MORE_THREADS)).requests / (MEASURE_MS[scale] / 1_000);
  }
  await service.stop();
  return figures;
}

async function measureFanOut(scale: Scale, threads: number): Promise<number> {
  const { service } = await startPricedService({ assets: READER_ASSETS, clockPeriod: '60s', threads });
  const readers = {
    query: 'channel=100ms',
    count: READERS[scale],
    assetsOf: () => firstAssets(READER_ASSETS),
  };
  const { framesPerCpuSecond } = await measureFrames(service, readers, READER_TIMES[scale]);
  await service.stop();
  return framesPerCpuSecond;
}
