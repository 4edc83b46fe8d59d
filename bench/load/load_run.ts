import { metricsAt } from '../../scripts/load/metrics.js';
import { pause } from '../../scripts/load/wait.js';
import { REST_PATHS } from '../../src/wire/paths.js';
import { CHANNEL_INTERVALS_MS } from '../../src/wire/stream.js';
import { Delays } from './delays.js';
import { JobProcess } from './job_process.js';
import { type JobReport, type LoadJob, NO_COUNTS } from './jobs.js';
import type { LoadOptions } from './options.js';
import { readAssets, targetOf } from './target.js';

/** The kinds of load. Each kind has its own delays. */
export type LoadKind = LoadJob['kind'];

/** The sums of the reports of a kind, over a second or the whole measurement. */
export interface KindFigures extends Omit<JobReport, 'delays' | 'seconds'> {
  /** The real time of the reports, for each process. */
  readonly seconds: number;
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  readonly maxMs: number | undefined;
}

/** The resources of the service in a period. */
export interface ServerUsage {
  /** The CPU time divided by the real time, in cores. */
  readonly cores: number;
  /** The resident memory at the end. */
  readonly residentBytes: number;
}

/** The figures of a period. */
export interface LoadFigures {
  readonly atSeconds: number;
  readonly kinds: Readonly<Record<LoadKind, KindFigures>>;
  /** The service's CPU time and memory; absent without `--admin`, and when another process has taken over. */
  readonly server?: ServerUsage;
}

export interface LoadResult {
  readonly readers: number;
  readonly updatesPerSecond: number;
  readonly requestsPerSecond: number;
  /** The service's message when it first refused an update. */
  readonly refusal: string | undefined;
  readonly total: LoadFigures;
  readonly seconds: readonly LoadFigures[];
}

/** The amounts that `--find-limit` changes. */
export type LoadAmounts = Pick<LoadOptions, 'readers' | 'publish'>;

const NOTHING: Omit<JobReport, 'delays'> = { ...NO_COUNTS, cpuSeconds: 0, seconds: 0 };

/**
 * Loads the service and measures.
 * @param onSecond receives the figures of each second
 * @throws Error whose message is one sentence when a connection cannot be opened
 */
export async function runLoad(
  options: LoadOptions,
  amounts: LoadAmounts,
  onSecond: (figures: LoadFigures) => void,
): Promise<LoadResult> {
  const jobs = await jobsOf(options, amounts);
  const whole = new Period(jobs);
  const { admin } = options;
  if (admin !== undefined && (await readServer(admin)) === undefined)
    throw new Error(`--admin ${admin.href} does not answer with metrics`);
  const processes = jobs.map((job) => new JobProcess(job));
  const seconds: LoadFigures[] = [];
  try {
    await Promise.all(processes.map((one) => one.ready()));
    const failed = processes.map((one) => one.failed);
    const pauseFor = (ms: number) => Promise.race([pause(ms), ...failed]);
    await pauseFor(options.warmUp);
    for (const one of processes) one.measure();
    const startMs = performance.now();
    const first = await readServer(admin);
    let last = first;
    const periods = Math.max(1, Math.round(options.for / 1_000));
    for (let i = 1; i <= periods; i++) {
      await pauseFor(startMs + (options.for * i) / periods - performance.now());
      const period = new Period(jobs);
      const collect = (which: 'report' | 'finish') =>
        Promise.all(
          processes.map(async (one) => {
            const report = await one.report(which);
            for (const sums of [period, whole]) sums.add(one.job.kind, report);
          }),
        );
      const [now] = await Promise.all([readServer(admin), collect('report')]);
      const atSeconds = (performance.now() - startMs) / 1_000;
      if (i === periods) await collect('finish');
      const figures = period.figures(atSeconds, usageBetween(last, now));
      last = now ?? last;
      seconds.push(figures);
      onSecond(figures);
    }
    return {
      readers: amounts.readers,
      updatesPerSecond: amounts.publish,
      requestsPerSecond: options.rest,
      refusal: processes.find(({ refusal }) => refusal !== undefined)?.refusal,
      total: whole.figures(seconds.at(-1)!.atSeconds, usageBetween(first, last)),
      seconds,
    };
  } finally {
    await Promise.all(processes.map((one) => one.stop()));
  }
}

/** Collects the reports of a period. */
class Period {
  readonly #sums = new Map<LoadKind, { counts: Omit<JobReport, 'delays'>; readonly delays: Delays }>();
  readonly #jobs: readonly LoadJob[];

  constructor(jobs: readonly LoadJob[]) {
    this.#jobs = jobs;
  }

  add(kind: LoadKind, { delays, ...counts }: JobReport): void {
    const sum = this.#sums.get(kind) ?? { counts: NOTHING, delays: new Delays() };
    sum.counts = plus(sum.counts, counts);
    sum.delays.add(Delays.decode(delays));
    this.#sums.set(kind, sum);
  }

  figures(atSeconds: number, server: ServerUsage | undefined): LoadFigures {
    const kinds = {
      readers: this.#figuresOf('readers'),
      publisher: this.#figuresOf('publisher'),
      requests: this.#figuresOf('requests'),
    };
    return { atSeconds, kinds, ...(server !== undefined && { server }) };
  }

  #figuresOf(kind: LoadKind): KindFigures {
    const { counts, delays } = this.#sums.get(kind) ?? { counts: NOTHING, delays: undefined };
    return {
      ...counts,
      seconds: counts.seconds / Math.max(1, this.#jobs.filter((job) => job.kind === kind).length),
      p50Ms: delays?.percentileMs(50),
      p99Ms: delays?.percentileMs(99),
      maxMs: delays?.maxMs,
    };
  }
}

/** The state of the service's process at a time. */
export interface ServerState {
  readonly atMs: number;
  readonly cpuSeconds: number;
  readonly residentBytes: number;
}

/** Returns the usage between two states; `undefined` without one of them, and when another process has taken over. */
export function usageBetween(
  earlier: ServerState | undefined,
  later: ServerState | undefined,
): ServerUsage | undefined {
  if (earlier === undefined || later === undefined || later.cpuSeconds <= earlier.cpuSeconds)
    return undefined;
  const seconds = (later.atMs - earlier.atMs) / 1_000;
  return { cores: (later.cpuSeconds - earlier.cpuSeconds) / seconds, residentBytes: later.residentBytes };
}

/** Reads the metrics of the admin listener; `undefined` without an address, or when the listener does not answer. */
async function readServer(admin: URL | undefined): Promise<ServerState | undefined> {
  const metrics = admin && (await metricsAt(admin).catch(() => undefined));
  const cpuSeconds = metrics?.get('process_cpu_seconds_total');
  const residentBytes = metrics?.get('process_resident_memory_bytes');
  if (cpuSeconds === undefined || residentBytes === undefined) return undefined;
  return { atMs: performance.now(), cpuSeconds, residentBytes };
}

async function jobsOf(options: LoadOptions, { readers, publish }: LoadAmounts): Promise<LoadJob[]> {
  const { channel, type, processes, connectRate, signatureType, keyFile: key, oracleId, rest } = options;
  const target = targetOf(options);
  const assets = await readAssets(options);
  const count = Math.min(processes, readers);
  const jobs: LoadJob[] = Array.from({ length: count }, (_, i) => ({
    kind: 'readers',
    target,
    connections: Math.floor((readers + i) / count),
    connectionsPerSecond: Math.max(1, connectRate / count),
    query: `channel=${channel}&message_type=${type}`,
    intervalMs: (CHANNEL_INTERVALS_MS as Readonly<Record<string, number | undefined>>)[channel] ?? 0,
    assetIds: assets.map(({ id }) => id),
  }));
  if (publish > 0)
    jobs.push({ kind: 'publisher', target, signatureType, key, oracleId, assets, updatesPerSecond: publish });
  const path = `${REST_PATHS.latest}?assets=${assets.map(({ symbol }) => encodeURIComponent(symbol)).join()}`;
  if (rest > 0) jobs.push({ kind: 'requests', target, path, requestsPerSecond: rest });
  return jobs;
}

function plus<Counts extends object>(one: Counts, other: Counts): Counts {
  const sums = Object.entries(one).map(([name, value]) => [
    name,
    (value as number) + (other as Readonly<Record<string, number>>)[name]!,
  ]);
  return Object.fromEntries(sums) as Counts;
}
