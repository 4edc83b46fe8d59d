import { REST_PATHS } from '../../src/wire/paths.js';
import { CHANNEL_INTERVALS_MS } from '../../src/wire/stream.js';
import { Delays } from './delays.js';
import { JobProcess } from './job_process.js';
import type { JobReport, LoadJob } from './jobs.js';
import type { LoadOptions } from './options.js';
import { readServerUsage, type ServerUsage } from './server_usage.js';
import { readAssets, targetOf } from './target.js';

/** The kinds of load. Each kind has its own delays. */
export type LoadKind = LoadJob['kind'];
export const LOAD_KINDS = ['readers', 'publisher', 'requests'] as const;

/** The sums of the reports of a kind, over a second or the whole measurement. */
export interface KindFigures extends Omit<JobReport, 'delays' | 'seconds'> {
  /** The real time of the reports, for each process. */
  readonly seconds: number;
  readonly p50Ms: number | undefined;
  readonly p99Ms: number | undefined;
  readonly maxMs: number | undefined;
}

/** The figures of a period. */
export interface LoadFigures {
  readonly atSeconds: number;
  readonly kinds: Readonly<Record<LoadKind, KindFigures>>;
  /** The service's CPU time and memory; absent without `--admin`. */
  readonly server?: ServerUsage;
}

export interface LoadResult {
  readonly readers: number;
  readonly updatesPerSecond: number;
  readonly requestsPerSecond: number;
  readonly total: LoadFigures;
  readonly seconds: readonly LoadFigures[];
}

/** The amounts that `--find-limit` changes. */
export interface LoadAmounts {
  readonly readers: number;
  readonly publish: number;
}

/** The number of updates a second from which another process publishes a part of the assets. */
const UPDATES_OF_PROCESS = 2_000;

/** Collects the reports of a period. */
class Period {
  readonly #counts = new Map<LoadKind, Omit<JobReport, 'delays'>>();
  readonly #delays = new Map<LoadKind, Delays>();
  readonly #jobs: readonly LoadJob[];

  constructor(jobs: readonly LoadJob[]) {
    this.#jobs = jobs;
  }

  add(kind: LoadKind, { delays, ...counts }: JobReport): void {
    const sum = this.#counts.get(kind);
    this.#counts.set(kind, sum === undefined ? counts : plus(sum, counts));
    const known = this.#delays.get(kind) ?? new Delays();
    known.add(Delays.decode(delays));
    this.#delays.set(kind, known);
  }

  figures(kind: LoadKind): KindFigures {
    const counts = this.#counts.get(kind) ?? NOTHING;
    const delays = this.#delays.get(kind);
    return {
      ...counts,
      seconds: counts.seconds / Math.max(1, this.#jobs.filter((job) => job.kind === kind).length),
      p50Ms: delays?.percentileMs(50),
      p99Ms: delays?.percentileMs(99),
      maxMs: delays?.maxMs,
    };
  }
}

const NOTHING: Omit<JobReport, 'delays'> = {
  frames: 0,
  bytes: 0,
  gaps: 0,
  different: 0,
  closed: 0,
  sent: 0,
  done: 0,
  refused: 0,
  lost: 0,
  cpuSeconds: 0,
  seconds: 0,
};

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
  let isMeasuring = false;
  let period = new Period(jobs);
  const whole = new Period(jobs);
  const processes = jobs.map(
    (job) =>
      new JobProcess(job, (report) => {
        if (!isMeasuring) return;
        period.add(job.kind, report);
        whole.add(job.kind, report);
      }),
  );
  const seconds: LoadFigures[] = [];
  try {
    await Promise.all(processes.map((one) => one.ready()));
    const failed = processes.map((one) => one.failed());
    const pauseFor = (ms: number) => Promise.race([pause(ms), ...failed]);
    await pauseFor(options.warmUpMs);
    isMeasuring = true;
    const startMs = performance.now();
    const start = await readServerUsage(options.admin);
    let last = start;
    const periods = Math.max(1, Math.round(options.forMs / 1_000));
    for (let i = 0; i < periods; i++) {
      await pauseFor(options.forMs / periods);
      const usage = await readServerUsage(options.admin);
      const figures = figuresOf(period, startMs, usage?.since(last));
      last = usage;
      period = new Period(jobs);
      seconds.push(figures);
      onSecond(figures);
    }
    const total = figuresOf(whole, startMs, last?.since(start));
    return {
      readers: amounts.readers,
      updatesPerSecond: amounts.publish,
      requestsPerSecond: options.rest,
      total,
      seconds,
    };
  } finally {
    await Promise.all(processes.map((one) => one.stop()));
  }
}

async function jobsOf(options: LoadOptions, { readers, publish }: LoadAmounts): Promise<LoadJob[]> {
  const { channel, type, processes, connectionsPerSecond, key, oracleId, rest } = options;
  const target = targetOf(options);
  const assets = await readAssets(options);
  const count = Math.min(processes, readers);
  const jobs: LoadJob[] = Array.from({ length: count }, (_, i) => ({
    kind: 'readers',
    target,
    connections: Math.floor((readers + i) / count),
    connectionsPerSecond: Math.max(1, connectionsPerSecond / count),
    query: `channel=${channel}&message_type=${type}`,
    intervalMs: (CHANNEL_INTERVALS_MS as Readonly<Record<string, number | undefined>>)[channel] ?? 0,
    assetIds: assets.map(({ id }) => id),
  }));
  const publishers = Math.min(processes, assets.length, Math.ceil(publish / UPDATES_OF_PROCESS));
  for (let i = 0; i < publishers; i++) {
    const own = assets.filter((_, asset) => asset % publishers === i);
    const updatesPerSecond = publish / publishers;
    jobs.push({ kind: 'publisher', target, key, oracleId, assets: own, updatesPerSecond });
  }
  const path = `${REST_PATHS.latest}?assets=${assets.map(({ symbol }) => encodeURIComponent(symbol)).join()}`;
  if (rest > 0) jobs.push({ kind: 'requests', target, path, requestsPerSecond: rest });
  return jobs;
}

function figuresOf(period: Period, startMs: number, server: ServerUsage | undefined): LoadFigures {
  return {
    atSeconds: (performance.now() - startMs) / 1_000,
    kinds: {
      readers: period.figures('readers'),
      publisher: period.figures('publisher'),
      requests: period.figures('requests'),
    },
    ...(server !== undefined && { server }),
  };
}

function plus<Counts extends object>(one: Counts, other: Counts): Counts {
  const sums = Object.entries(one).map(([name, value]) => [
    name,
    (value as number) + (other as Readonly<Record<string, number>>)[name]!,
  ]);
  return Object.fromEntries(sums) as Counts;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
