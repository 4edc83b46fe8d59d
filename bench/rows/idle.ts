import { openStreams } from '../../scripts/load/streams.js';
import { measureUsage } from '../../scripts/load/usage.js';
import { pause } from '../../scripts/load/wait.js';
import type { Line, Measurement, Row, Scale } from '../harness/row.js';
import { startPricedService } from '../workloads/priced_service.js';

const SETTLE_MS: Readonly<Record<Scale, number>> = { full: 20_000, smoke: 20 };
const MEASURE_MS: Readonly<Record<Scale, number>> = { full: 10_000, smoke: 100 };

export const idle: Row = {
  name: 'idle',
  title: 'CPU time of a service in which nothing happens',
  method:
    'CPU time of all threads of the service over 10 s, 20 s after its start, when V8 has collected the garbage of the start: ' +
    'without a client, and with one subscriber in real time. There are 10 assets, whose prices do not change.',
  limit:
    'Each wake-up of a thread on an idle core costs 0.1 to 0.2 ms, as its caches are cold. Ticks come 4 times a second, the ' +
    'look for free file handles twice, and a commit once a second while the mark of signed times is in use.',
  rounds: 3,
  variants: {
    'no client': (scale) => measure(scale, 0),
    'one subscriber': (scale) => measure(scale, 1),
  },
  lines: () => [line('no client', 5), line('one subscriber', 10)],
};

function line(variant: string, cpuMsMax: number): Line {
  return {
    name: variant,
    unit: 'CPU ms a second',
    ours: { variant, figure: 'CPU ms a second' },
    bound: { atMost: cpuMsMax },
    peers: [],
  };
}

async function measure(scale: Scale, subscribers: number): Promise<Measurement> {
  const { service } = await startPricedService({ assets: 10, clockPeriod: '60s' });
  const streams = await openStreams({
    port: service.port,
    query: 'channel=real_time',
    count: subscribers,
    assetsOf: () => [0],
  });
  await pause(SETTLE_MS[scale]);
  const end = measureUsage(service);
  await pause(MEASURE_MS[scale]);
  const { serverShare } = end();
  streams.close();
  await service.stop();
  return { figures: { 'CPU ms a second': serverShare * 1_000 } };
}
