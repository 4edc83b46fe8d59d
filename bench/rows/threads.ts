import { availableParallelism } from 'node:os';
import { writeConfig } from '../../scripts/load/config.js';
import { fetchBody } from '../../scripts/load/fetch_body.js';
import { type ServerProcess, startService } from '../../scripts/load/server_process.js';
import type { Bound, Line, Measurement, Row, Scale } from '../harness/row.js';
import { startPricedService } from '../workloads/priced_service.js';
import { requestFromProcesses } from '../workloads/request_processes.js';
import { measureService as measureSets } from './distinct_sets.js';
import { ASSETS as FAN_OUT_ASSETS, measureFrames } from './fan_out.js';
import { measureService as measureLatency, measurePeer } from './latency.js';
import { latestPath, publishAll } from './rest.js';

const REST_ASSETS = 100;
const REST_PUBLISHERS = 3;
/** The number of connections of each client process. */
const CONNECTIONS = 32;
const WARM_UP_MS: Readonly<Record<Scale, number>> = { full: 3_000, smoke: 10 };
const MEASURE_MS: Readonly<Record<Scale, number>> = { full: 1_500, smoke: 30 };
const REST_CASES = ['latest of 1 asset', 'latest of 100 assets'] as const;
const ASSETS_OF = { 'latest of 1 asset': 1, 'latest of 100 assets': 100 } as const;
const READERS: Readonly<Record<Scale, number>> = { full: 5_000, smoke: 10 };
const CHANNEL_MS = 100;
const SETTLE_MS: Readonly<Record<Scale, number>> = { full: 1_500, smoke: 20 };
const SUBSCRIBERS = 10;

const SETS = '1,000 signed sets';
const FAN_OUT = '5,000 readers of one group';
const LATENCY = 'publisher to subscriber';

/**
 * The number of threads of the variant that shows a gain or loss from threads. The next constant is the number of cores that this
 * variant needs for the threads, the main thread, the crypto threads and the load.
 */
const MORE_THREADS = 4;
const MORE_CORES_MIN = 8;
const hasManyCores = availableParallelism() >= MORE_CORES_MIN;
const MORE = `${MORE_THREADS} threads`;
/** The smallest allowed ratio to one thread. On few cores, threads share caches with the load. */
const THREADS_RATIO: Bound = { atLeast: 0.85 };
/**
 * The smallest ratio of the answers with {@link MORE_THREADS} threads to the answers with one thread. `listen.threads: auto` may
 * become more than 1 only above this ratio.
 */
const GAIN_MIN = 2;

/**
 * The variant with several services of one thread each, under the same load. The number of services equals the number of threads in the
 * other variant. This variant shows the largest gain that threads can reach.
 */
const SERVICES = '2 services';
const ALL_CLIENTS = 'one client for all';
/** The variants that show what threads cost a message on this machine without the service. */
const BARE = 'bare uWS';
const BARE_THREADS = 'bare uWS, two threads';
const BARE_FIGURE = `${SUBSCRIBERS} subscribers: p50`;

export const threads: Row = {
  name: 'threads',
  title: 'Two threads that serve, against one',
  method:
    'The loads of `rest`, `distinct-sets`, `fan-out` (5,000 readers, every 100 ms) and `latency` (10 subscribers, unsigned) ' +
    'with `listen.threads` 1 and 2. What the service does is divided by the CPU time of all its threads: on two cores the load ' +
    'needs one of them, so totals say little. With two threads each signs and encodes the frames of its own readers, and each ' +
    'follows all prices. Requests come from one process with 32 connections for each thread, so that a thread has the same load in ' +
    'both variants; the lines below them are with one such process for all threads. Two services with one thread each, with the ' +
    'same load, show what of the difference is the machine: they share nothing. uWebSockets.js alone, with a main thread that passes each message to ' +
    'two threads, shows the same for the way from a publisher to a subscriber. On a machine with eight or more cores the lines “in all” ' +
    'compare the answers a second of four threads with those of one, with requests from four processes for either. `listen.threads: auto` is 1 until such a machine ' +
    'shows a gain: run `npm ci && npm run bench -- threads` there, with nothing else running, and send in `bench/results.json`.',
  limit:
    'Most of a long answer, and of a frame, is the kernel that writes to the socket: with the load on the second of two cores, ' +
    'three busy threads share them, and each write finds colder caches. One client does not keep two threads busy: each then ' +
    'sleeps after two requests where a busy one answers hundreds in a turn of its event loop. A price on its way from a publisher to a ' +
    'subscriber is 40 µs in the first thread, 50 µs later in the main thread, 180 µs there, 160 µs later in a thread that serves (the main ' +
    'thread wakes both and then signs, and there are two cores), and 60 µs in that. uWebSockets.js alone needs 1.6 to 1.8 times as long when ' +
    'messages pass through three threads, so the bound is the ratio to that.',
  rounds: 3,
  variants: {
    '1 thread': (scale) => measure(scale, 1),
    '2 threads': (scale) => measure(scale, 2),
    [MORE]: async (scale) =>
      hasManyCores
        ? measure(scale, MORE_THREADS)
        : { figures: {}, missing: `it needs ${MORE_CORES_MIN} cores` },
    [SERVICES]: async (scale) => ({ figures: await measureRest(scale, 1, 2) }),
    [BARE]: (scale) => measurePeer(scale),
    [BARE_THREADS]: (scale) => measurePeer(scale, 'relayed'),
  },
  lines: () => [
    ...REST_CASES.map((name) => restLine(name, THREADS_RATIO)),
    ...REST_CASES.map((name) => restLine(`${name}, ${ALL_CLIENTS}`)),
    line(SETS, 'frames/s per core', THREADS_RATIO),
    line(FAN_OUT, 'frames/s per core', THREADS_RATIO),
    latencyLine(),
    {
      name: `the limit: ${BARE_THREADS}`,
      unit: 'ms p50',
      ours: { variant: BARE_THREADS, figure: BARE_FIGURE },
      peers: [{ name: BARE, source: { variant: BARE, figure: BARE_FIGURE } }],
    },
    ...REST_CASES.map(gainLine),
  ],
};

function line(figure: string, unit: string, ratio?: Bound): Line {
  return {
    name: figure,
    unit,
    ours: { variant: '2 threads', figure },
    peers: [{ name: '1 thread', source: { variant: '1 thread', figure }, ...(ratio && { ratio }) }],
  };
}

function latencyLine(): Line {
  const one = line(LATENCY, 'ms p50');
  const bare = { name: BARE_THREADS, source: { variant: BARE_THREADS, figure: BARE_FIGURE } };
  return { ...one, peers: [...one.peers, { ...bare, ratio: { atMost: 3 } }] };
}

/** Returns the line about answers in wall time. Several threads give more answers than one thread only if each thread has a core. */
function gainLine(name: (typeof REST_CASES)[number]): Line {
  const figure = inAll(name);
  return {
    name: `${figure}, ${MORE}`,
    unit: 'answers/s',
    ours: { variant: MORE, figure },
    peers: [
      { name: '1 thread', source: { variant: '1 thread', figure }, ratio: { atLeast: GAIN_MIN } },
      { name: '2 threads', source: { variant: '2 threads', figure } },
    ],
    shown: [{ name: LATENCY, unit: 'ms p50', source: { variant: MORE, figure: LATENCY } }],
  };
}

function inAll(figure: string): string {
  return `${figure}, in all`;
}

/** @param ratio the limit for the ratio to one thread */
function restLine(figure: string, ratio?: Bound): Line {
  return {
    name: figure,
    unit: 'answers/s per core',
    ours: { variant: '2 threads', figure },
    peers: [
      { name: '1 thread', source: { variant: '1 thread', figure }, ...(ratio && { ratio }) },
      { name: SERVICES, source: { variant: SERVICES, figure } },
    ],
  };
}

async function measure(scale: Scale, threads: number): Promise<Measurement> {
  const latency = await measureLatency(scale, ['unsigned'], [SUBSCRIBERS], { threads });
  return {
    figures: {
      ...(await measureRest(scale, threads, 1)),
      [SETS]: (await measureSets(scale, threads)).figures['frames/s per core']!,
      [FAN_OUT]: await measureFanOut(scale, threads),
      [LATENCY]: latency.figures[`unsigned, ${SUBSCRIBERS} subscribers: p50`]!,
    },
  };
}

async function measureRest(scale: Scale, threads: number, services: number): Promise<Record<string, number>> {
  const running = await Promise.all(Array.from({ length: services }, () => startRestService(threads)));
  const ports = running.map(({ port }) => port);
  const cpuSeconds = () => running.reduce((sum, service) => sum + service.cpuSeconds(), 0);
  const figures: Record<string, number> = {};
  for (const name of REST_CASES) {
    const path = latestPath(ASSETS_OF[name]);
    for (const port of ports) await fetchBody(port, path);
    for (const [figure, processes] of [
      [name, threads * services],
      [`${name}, ${ALL_CLIENTS}`, 1],
    ] as const) {
      const load = { ports, path, processes, connections: CONNECTIONS };
      await requestFromProcesses({ ...load, durationMs: WARM_UP_MS[scale] });
      const beforeSeconds = cpuSeconds();
      const requests = await requestFromProcesses({ ...load, durationMs: MEASURE_MS[scale] });
      figures[figure] = requests / (cpuSeconds() - beforeSeconds);
    }
    if (hasManyCores) {
      const load = { ports, path, processes: MORE_THREADS, connections: CONNECTIONS };
      await requestFromProcesses({ ...load, durationMs: WARM_UP_MS[scale] });
      const requests = await requestFromProcesses({ ...load, durationMs: MEASURE_MS[scale] });
      figures[inAll(name)] = requests / (MEASURE_MS[scale] / 1_000);
    }
  }
  for (const service of running) await service.stop();
  return figures;
}

async function startRestService(threads: number): Promise<ServerProcess> {
  const config = writeConfig({
    signatureType: 'evm',
    assets: REST_ASSETS,
    publishers: REST_PUBLISHERS,
    // The period is long, because a newly signed aggregate has different inputs and a different length.
    clockPeriod: '1d',
    threads,
  });
  const service = await startService(config.file);
  await publishAll(service);
  return service;
}

async function measureFanOut(scale: Scale, threads: number): Promise<number> {
  const load = { clients: READERS[scale], channelMs: CHANNEL_MS, settleMs: SETTLE_MS[scale] };
  const { service } = await startPricedService({ assets: FAN_OUT_ASSETS, clockPeriod: '60s', threads });
  const { frames, usage } = await measureFrames(service, load, scale);
  await service.stop();
  return frames / usage.serverCpuSeconds;
}
