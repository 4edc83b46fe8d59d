import { REST_PATHS } from '../../src/wire/paths.js';
import { CHANNEL_INTERVALS_MS } from '../../src/wire/stream.js';
import { Delays } from './delays.js';
import { JobProcess } from './job_process.js';
import { type JobReport, type LoadJob, NO_COUNTS } from './jobs.js';
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
  /** The service's message when it first refused an update. */
  readonly refusal: string | undefined;
  readonly total: LoadFigures;
  readonly seconds: readonly LoadFigures[];
}

/** The amounts that `--find-limit` changes. */
export interface LoadAmounts {
  readonly readers: number;
  readonly publish: number;
}

/** The longest wait for the first answer of the admin listener. */
const FIRST_ANSWER_MS_MAX = 5_000;
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
  const start = await readServerUsage(options.admin, FIRST_ANSWER_MS_MAX);
  if (options.admin !== undefined && start === undefined)
    throw new Error(`--admin ${options.admin.href} does not answer with metrics`);
  const processes = jobs.map((job) => new JobProcess(job));
  const seconds: LoadFigures[] = [];
  try {
    await Promise.all(processes.map((one) => one.ready()));
    const failed = processes.map((one) => one.failed());
    const pauseFor = (ms: number) => Promise.race([pause(ms), ...failed]);
    await pauseFor(options.warmUpMs);
    for (const one of processes) one.measure();
    const startMs = performance.now();
    const first = (await readServerUsage(options.admin)) ?? start;
    let last = first;
    const periods = Math.max(1, Math.round(options.forMs / 1_000));
    for (let i = 1; i <= periods; i++) {
      await pauseFor(startMs + (options.forMs * i) / periods - performance.now());
      const period = new Period(jobs);
      const collect = async (which: 'report' | 'finish') => {
        for (const [kind, report] of await reportsOf(processes, which)) {
          period.add(kind, report);
          whole.add(kind, report);
        }
      };
      const [usage] = await Promise.all([readServerUsage(options.admin), collect('report')]);
      const atSeconds = (performance.now() - startMs) / 1_000;
      if (i === periods) await collect('finish');
      const figures = figuresOf(period, atSeconds, usage?.since(last));
      last = usage ?? last;
      seconds.push(figures);
      onSecond(figures);
    }
    const { atSeconds } = seconds.at(-1)!;
    const total = figuresOf(whole, atSeconds, last === first ? undefined : last?.since(first));
    return {
      readers: amounts.readers,
      updatesPerSecond: amounts.publish,
      requestsPerSecond: options.rest,
      refusal: processes.find(({ refusal }) => refusal !== undefined)?.refusal,
      total,
      seconds,
    };
  } finally {
    await Promise.all(processes.map((one) => one.stop()));
  }
}

function reportsOf(
  processes: readonly JobProcess[],
  which: 'report' | 'finish',
): Promise<(readonly [LoadKind, JobReport])[]> {
  return Promise.all(processes.map(async (one) => [one.job.kind, await one.report(which)] as const));
}

async function jobsOf(options: LoadOptions, { readers, publish }: LoadAmounts): Promise<LoadJob[]> {
  const { channel, type, processes, connectionsPerSecond, signatureType, key, oracleId, rest } = options;
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
    jobs.push({ kind: 'publisher', target, signatureType, key, oracleId, assets: own, updatesPerSecond });
  }
  const path = `${REST_PATHS.latest}?assets=${assets.map(({ symbol }) => encodeURIComponent(symbol)).join()}`;
  if (rest > 0) jobs.push({ kind: 'requests', target, path, requestsPerSecond: rest });
  return jobs;
}

function figuresOf(period: Period, atSeconds: number, server: ServerUsage | undefined): LoadFigures {
  return {
    atSeconds,
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
