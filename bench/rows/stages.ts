import { readFileSync } from 'node:fs';
import Benchmark from 'benchmark';
import { median } from '../../scripts/load/statistics.js';
import type { Measurement, Row, Scale } from '../harness/row.js';
import { callsPerCpuSecond } from '../harness/stage.js';
import {
  processStages,
  STAGE_ASSETS,
  STAGE_NAMES,
  STAGE_PUBLISHERS,
  type StageName,
} from '../workloads/process_stages.js';

const TITLES: Readonly<Record<StageName, string>> = {
  read: `read a message of ${STAGE_ASSETS} updates`,
  verify: `verify its ${STAGE_ASSETS} signatures`,
  aggregate: `put an update into the book of ${STAGE_PUBLISHERS} publishers, and take their median`,
  sign: `sign an aggregate of ${STAGE_PUBLISHERS} inputs`,
  encode: `encode a frame of ${STAGE_ASSETS} assets`,
};

/** The largest allowed difference between our figure and the figure of the package benchmark. */
const DIFFERENCE_MAX = 0.1;
/** The number of counted turns of each stage. */
const TURNS: Readonly<Record<Scale, number>> = { full: 5, smoke: 1 };
const BENCHMARK_OPTIONS: Readonly<Record<Scale, Benchmark.Options>> = {
  full: { maxTime: 0.3 },
  smoke: { maxTime: 0.001, minTime: 0.001, minSamples: 2 },
};
/**
 * The smallest share of wall time in which this thread must run on a core. A turn with a smaller share does not count, because
 * the package benchmark measures wall time.
 */
const CORE_SHARE_MIN = 0.95;
/** The time in seconds after which the bench starts no more turns. */
const SECONDS_MAX = 120;

export const stages: Row = {
  name: 'stages',
  title: 'The stages of one process, by our own loop and by the npm package benchmark',
  method:
    'The service’s own functions in the order of a price’s way, in one process without a socket, a thread or a disk. ' +
    'Our figure is from the loop that all rows of stages use, which repeats a function and divides the calls by the CPU time of its thread. The other one is from ' +
    '`Benchmark.Suite`, which has another loop, takes wall time, and gives the error margin of its mean (rme). ' +
    'Both measure a stage one directly after the other, take turns in which is first, and are the median of five turns after one that warms up. ' +
    'The two must agree: then the figures of the other rows do not come from the way in which we count. Turns in which other programs ' +
    'used the core are measured again, for 120 s at most; after that the row is not judged.',
  limit:
    'Garbage is also collected on other threads, whose time the other rows count too: reading a message then takes a sixth more.',
  rounds: 3,
  variants: { 'one process': measure },
  lines: () =>
    STAGE_NAMES.map((name) => ({
      name: TITLES[name],
      unit: 'calls/s per core',
      ours: { variant: 'one process', figure: name },
      peers: [
        {
          name: 'benchmark',
          source: { variant: 'one process', figure: `${name} by benchmark` },
          ratio: { within: DIFFERENCE_MAX },
        },
      ],
      shown: [
        { name: 'rme of benchmark', unit: '%', source: { variant: 'one process', figure: `${name}: rme` } },
      ],
    })),
};

/** The figures of one stage, with one value for each turn. */
interface Turns {
  readonly ours: number[];
  readonly benchmark: number[];
  readonly rme: number[];
}

async function measure(scale: Scale): Promise<Measurement> {
  const functions = await processStages();
  const turns = Object.fromEntries(
    STAGE_NAMES.map((name): [string, Turns] => [name, { ours: [], benchmark: [], rme: [] }]),
  );
  const missing = () => STAGE_NAMES.filter((name) => turns[name]!.ours.length < TURNS[scale]);
  const endMs = performance.now() + SECONDS_MAX * 1_000;
  runSuite(scale, functions, STAGE_NAMES, false, () => {});
  for (let turn = 0; missing().length > 0; turn++) {
    if (performance.now() > endMs) return { figures: {}, missing: 'other programs used the core' };
    runSuite(scale, functions, missing(), turn % 2 === 0, (name, { ours, benchmark, rme, coreShare }) => {
      if (scale === 'full' && coreShare < CORE_SHARE_MIN) return;
      turns[name]!.ours.push(ours);
      turns[name]!.benchmark.push(benchmark);
      turns[name]!.rme.push(rme);
    });
  }
  const figures: Record<string, number> = {};
  for (const name of STAGE_NAMES) {
    figures[name] = median(turns[name]!.ours);
    figures[`${name} by benchmark`] = median(turns[name]!.benchmark);
    figures[`${name}: rme`] = median(turns[name]!.rme);
  }
  return { figures };
}

interface Turn {
  /** The number of calls in a second. */
  readonly ours: number;
  readonly benchmark: number;
  /** The relative margin of error, in percent. */
  readonly rme: number;
  /** The share of the package benchmark's time in which this thread ran on a core. */
  readonly coreShare: number;
}

/** Measures each stage once with our loop and once with the package benchmark. */
function runSuite(
  scale: Scale,
  functions: Readonly<Record<StageName, () => void>>,
  names: readonly StageName[],
  isOursFirst: boolean,
  onMeasured: (name: StageName, turn: Turn) => void,
): void {
  const suite = new Benchmark.Suite();
  for (const name of names) {
    const measureOurs = () => callsPerCpuSecond(scale, functions[name], mainThreadSeconds);
    let ours = 0;
    let endUse = () => 0;
    suite.add(name, functions[name], {
      ...BENCHMARK_OPTIONS[scale],
      onStart() {
        if (isOursFirst) ours = measureOurs();
        endUse = measureCoreShare();
      },
      onComplete(this: Benchmark) {
        const coreShare = endUse();
        const { hz, stats, error } = this;
        if (error !== undefined) throw error;
        if (!isOursFirst) ours = measureOurs();
        onMeasured(name, { ours, benchmark: hz, rme: stats.rme, coreShare });
      },
    });
  }
  suite.run();
}

/**
 * Starts a measurement.
 * @returns a function that returns the share of the time since the start in which the main thread ran on a core
 */
function measureCoreShare(): () => number {
  const startMs = performance.now();
  const startSeconds = mainThreadSeconds();
  return () => (mainThreadSeconds() - startSeconds) / ((performance.now() - startMs) / 1_000);
}

/** Returns the CPU time of the main thread, in seconds. Linux only. */
function mainThreadSeconds(): number {
  return Number(readFileSync('/proc/self/schedstat', 'utf8').split(' ')[0]) / 1e9;
}
