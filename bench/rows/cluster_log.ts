import type { Line, Measurement, Row, Scale } from '../harness/row.js';
import { BenchLog, openBenchBus } from '../workloads/bench_log.js';
import { natsCpuSeconds, withNatsServers } from '../workloads/cluster.js';
import { AggregateEntries } from '../workloads/log_records.js';
import { STAGE_TIME_NS } from '../workloads/stream_table.js';

const ASSETS: Readonly<Record<Scale, number>> = { full: 1_000, smoke: 10 };
/** The rate that 1,000 assets at 2 Hz need. */
const NEEDED_PER_SECOND = 2_000;
/** The length of the warm-up, in seconds of the log at that rate. The next constant is the length of the measurement. */
const WARM_UP_SECONDS: Readonly<Record<Scale, number>> = { full: 2, smoke: 0.01 };
const SECONDS: Readonly<Record<Scale, number>> = { full: 10, smoke: 0.05 };
const VARIANTS = ['default sync', 'sync_interval: always'] as const;

export const clusterLog: Row = {
  name: 'cluster-log',
  title: 'Aggregates through the log of a cluster, three copies',
  method:
    'Aggregates of five inputs, made and written as the leader does: one record on its way, and what is made meanwhile in the ' +
    'next one. Three nats-servers on this machine share its disk and its cores. 1,000 assets at 2 Hz need 2,000 a second.',
  rounds: 3,
  variants: {
    'default sync': (scale) => measure(scale, false),
    'sync_interval: always': (scale) => measure(scale, true),
  },
  lines: () => VARIANTS.map(line),
};

function line(variant: string): Line {
  const shown = (name: string, unit: string) => ({ name, unit, variant, figure: name });
  return {
    name: variant,
    unit: 'aggregates/s',
    variant,
    figure: 'aggregates/s',
    bound: { atLeast: NEEDED_PER_SECOND },
    shown: [
      shown('an aggregate', 'bytes'),
      shown('aggregates in a record', ''),
      shown('written', 'MB/s'),
      shown('CPU time of the writer, an aggregate', 'µs'),
      shown('CPU time of the three servers, an aggregate', 'µs'),
    ],
  };
}

function measure(scale: Scale, syncAlways: boolean): Promise<Measurement> {
  return withNatsServers({ count: 3, syncAlways }, async (servers) => {
    const bus = await openBenchBus(servers);
    const log = await BenchLog.begin(bus);
    const entries = new AggregateEntries(ASSETS[scale]);
    const span = (seconds: number) => entries.span(STAGE_TIME_NS, seconds, NEEDED_PER_SECOND);
    await log.appendAll(span(WARM_UP_SECONDS[scale]));
    const recordsBefore = log.records;
    const natsBefore = natsCpuSeconds(servers);
    const before = process.cpuUsage();
    const startMs = performance.now();
    const bytes = await log.appendAll(span(SECONDS[scale]));
    const seconds = (performance.now() - startMs) / 1000;
    const { user, system } = process.cpuUsage(before);
    const natsSeconds = natsCpuSeconds(servers) - natsBefore;
    const records = log.records - recordsBefore;
    log.stop();
    await bus.close();
    const aggregates = SECONDS[scale] * NEEDED_PER_SECOND;
    return {
      figures: {
        'aggregates/s': aggregates / seconds,
        'an aggregate': bytes / aggregates,
        'aggregates in a record': aggregates / records,
        written: bytes / seconds / 1e6,
        'CPU time of the writer, an aggregate': (user + system) / aggregates,
        'CPU time of the three servers, an aggregate': (natsSeconds * 1e6) / aggregates,
      },
    };
  });
}
