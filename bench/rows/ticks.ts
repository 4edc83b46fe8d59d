import { startPricedService } from '../../scripts/load/priced_service.js';
import { publishEvery } from '../../scripts/load/publishers.js';
import { percentile } from '../../scripts/load/statistics.js';
import { openStreams } from '../../scripts/load/streams.js';
import { publishMessage } from '../../scripts/load/updates.js';
import { measureUsage } from '../../scripts/load/usage.js';
import { pause } from '../../scripts/load/wait.js';
import { CHANNEL_INTERVALS_MS } from '../../src/wire/stream.js';
import type { Figures, Line, Measurement, Row, Scale } from '../harness/row.js';
import { addCores, coresOf } from '../harness/used_cores.js';
import { firstAssets } from '../workloads/frames.js';

const ASSETS = 10;
/** The time between two updates of each asset, which gives 1,000 updates a second. */
const UPDATE_MS = 10;
const SUBSCRIBERS: Readonly<Record<Scale, number>> = { full: 100, smoke: 2 };
const MEASURE_MS: Readonly<Record<Scale, number>> = { full: 8_000, smoke: 150 };
/** The time before and after the measurement, so that a late frame does not count as missing. */
const MARGIN_MS = 300;
const CHANNELS = Object.entries(CHANNEL_INTERVALS_MS).flatMap(([channel, intervalMs]) =>
  intervalMs === undefined ? [] : [[channel, intervalMs] as const],
);
const HEAD_BYTES_MAX = 80;

export const ticks: Row = {
  name: 'ticks',
  title: 'Ticks of every fixed channel with 100 subscribers each, while 1,000 updates a second are verified',
  method:
    'Read off the `ts` of the frames on one connection a channel: how many of the wall-clock multiples of the interval ' +
    'there was a frame for, and how late it was made. Arrival is when the client read it, which the client is late for ' +
    'too.',
  limit:
    'A tick is made 0.2 ms after its time as a rule. One that is later has waited for a core that another thread or ' +
    'process held, up to a time slice of the scheduler (1.4 ms, checked every 4 ms): the last line shows how long. Where the machine is the ' +
    'service’s own, or its process has priority (`nice`), it does not.',
  rounds: 2,
  variants: { service: measure },
  lines: (scale) => [
    ...channels(scale).flatMap(([channel]) => linesOf(channel)),
    {
      name: 'server waiting for a core that others held',
      unit: 'of the time',
      variant: 'service',
      figure: 'waiting',
      shown: coresOf('service', 'all'),
    },
  ],
};

function linesOf(channel: string): Line[] {
  const figure = (name: string) => ({ variant: 'service', figure: `${channel}: ${name}` });
  return [
    {
      name: `${channel}: ticks sent`,
      unit: 'of all',
      ...figure('sent'),
      bound: { atLeast: 0.99 },
    },
    {
      name: `${channel}: late p99`,
      unit: 'ms',
      ...figure('late p99'),
      bound: { atMost: 2 },
      shown: [
        { name: 'p50', unit: 'ms', ...figure('late p50') },
        { name: 'arrival p99', unit: 'ms', ...figure('arrival p99') },
      ],
    },
  ];
}

/** A tick, and the frame that the service sent for the tick. */
interface Tick {
  /** The time at which the frame was made, from the frame's `ts`, in ms since 1970. */
  readonly madeMs: number;
  /** The time of the frame's arrival, from the client's clock. */
  readonly arrivedMs: number;
}

async function measure(scale: Scale): Promise<Measurement> {
  const { service, updates } = await startPricedService({ assets: ASSETS });
  const ticksByChannel = new Map<string, Tick[]>();
  const streams = await Promise.all(
    channels(scale).map(([channel]) => {
      const those: Tick[] = [];
      ticksByChannel.set(channel, those);
      return openStreams({
        port: service.port,
        query: `channel=${channel}`,
        count: SUBSCRIBERS[scale],
        assetsOf: () => firstAssets(ASSETS),
        onFrame(payload, connection) {
          if (connection === 0) those.push({ madeMs: madeMsOf(payload), arrivedMs: wallClockMs() });
        },
      });
    }),
  );
  const publishing = publishEvery(service.port, UPDATE_MS, MEASURE_MS[scale] + 2 * MARGIN_MS, () =>
    firstAssets(ASSETS).map((asset) => publishMessage([updates.update(0, asset).text])),
  );
  await pause(MARGIN_MS);
  const fromMs = wallClockMs();
  const end = measureUsage(service);
  await pause(MEASURE_MS[scale]);
  const usage = end();
  const toMs = wallClockMs();
  await publishing;
  for (const each of streams) each.close();
  await service.stop();
  const figures: Figures = { waiting: usage.serverWaitShare };
  addCores(figures, 'all', usage);
  for (const [channel, intervalMs] of channels(scale))
    addTicks(figures, channel, intervalMs, ticksByChannel.get(channel)!, fromMs, toMs);
  return { figures };
}

function addTicks(
  figures: Figures,
  channel: string,
  intervalMs: number,
  those: readonly Tick[],
  fromMs: number,
  toMs: number,
): void {
  const boundaryOf = ({ madeMs }: Tick) => Math.floor(madeMs / intervalMs) * intervalMs;
  const firstMs = Math.ceil(fromMs / intervalMs) * intervalMs;
  const measured = those.filter((tick) => boundaryOf(tick) >= firstMs && boundaryOf(tick) < toMs);
  const due = Math.ceil((toMs - firstMs) / intervalMs);
  const late = measured.map((tick) => tick.madeMs - boundaryOf(tick));
  const arrival = measured.map((tick) => tick.arrivedMs - boundaryOf(tick));
  figures[`${channel}: sent`] = new Set(measured.map(boundaryOf)).size / due;
  figures[`${channel}: late p50`] = percentile(late, 50);
  figures[`${channel}: late p99`] = percentile(late, 99);
  figures[`${channel}: arrival p99`] = percentile(arrival, 99);
}

function channels(scale: Scale): readonly (readonly [string, number])[] {
  return scale === 'full' ? CHANNELS : CHANNELS.slice(0, 2);
}

/** Returns the frame's time in ms, with microsecond precision. Such a time fits a double. */
function madeMsOf(payload: Buffer): number {
  const text = payload.toString('latin1', 0, HEAD_BYTES_MAX);
  return Number(/"ts":(\d+)\d{3}\b/.exec(text)![1]) / 1000;
}

function wallClockMs(): number {
  return performance.timeOrigin + performance.now();
}
