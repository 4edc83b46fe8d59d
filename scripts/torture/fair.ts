import { fileURLToPath } from 'node:url';
import { REST_PATHS } from '../../src/wire/paths.js';
import { readMetrics } from '../load/metrics.js';
import { type ServerProcess, startServer, startService } from '../load/server_process.js';
import { median } from '../load/statistics.js';
import { storePast } from '../load/stored_past.js';
import {
  type Check,
  exactly,
  type Finding,
  measured,
  type Scale,
  type Sizes,
  SOME,
  timing,
} from './check.js';
import { Healthy, type Seen } from './healthy.js';
import type { HostileKind } from './hostile.js';
import { until, writeTortureConfig } from './service.js';

/** The check with a token that uses all its limits, while another token has a reader and a publisher. */
export const fair: Check = {
  name: 'fair',
  title: 'one token uses all that it may',
  run: measure,
};

/** The bounds for clients of another token beside a kind of hostile clients, and the configuration of its service. */
interface Attack {
  readonly title: string;
  /** The smallest share of frames, in percent, that a reader must still get. */
  readonly framesMin?: number;
  /** The longest p99 of an answer of `/livez` and of a publisher, and the longest delay of the event loop. */
  readonly livezMsMax?: number;
  readonly ackMsMax?: number;
  readonly loopDelayMsMax?: number;
  /** The answers whose p99 may be three times as long as without the hostile clients. */
  readonly tripled?: 'restMs' | 'ackMs';
  readonly assets?: number;
  readonly limits?: Readonly<Record<string, unknown>>;
  /** The number of aggregates of each asset in the past, by scale. */
  readonly past?: Readonly<Record<Scale, number>>;
  /** The number of readers that the service must close because they are too slow, by scale. */
  readonly slow?: Readonly<Record<Scale, number>>;
}

const FRAMES_MIN = 90;
const LIVEZ_MS_MAX = 100;
/** The bounds beside bytes that uWebSockets.js does not report. */
const UNREPORTED = { framesMin: 75, livezMsMax: 250 } as const;
const FLOOD_MS_MAX = 20;

const ATTACKS: Readonly<Record<HostileKind, Attack>> = {
  junk: {
    title: '10 publishers with 1 MB of junk each, as fast as they can',
    framesMin: FRAMES_MIN,
    livezMsMax: LIVEZ_MS_MAX,
  },
  forged: {
    title: '16 publishers with 999 bad signatures each, reconnecting',
    tripled: 'ackMs',
    loopDelayMsMax: 100,
  },
  stalled: {
    title: 'readers of 1,000 assets that stop reading',
    framesMin: FRAMES_MIN,
    tripled: 'ackMs',
    limits: {
      connections_per_token: 1_000,
      subscription_changes_per_second: 1_000_000,
      slow_consumer: '10s',
    },
    slow: { full: 1_000, smoke: 4 },
  },
  past: {
    title: '100 readers of the past that never read their answers',
    framesMin: FRAMES_MIN,
    livezMsMax: LIVEZ_MS_MAX,
    assets: 10,
    past: { full: 5_000, smoke: 100 },
  },
  signed: {
    title: '100 connections × 999 assets, sets of their own, signed, 10ms',
    framesMin: FRAMES_MIN,
  },
  subscriptions: {
    title: '999 assets subscribed and unsubscribed, 10/s on 100 connections',
    framesMin: FRAMES_MIN,
    tripled: 'restMs',
  },
  flood: {
    title: '20,000 bad signatures a second on one connection',
    livezMsMax: FLOOD_MS_MAX,
    ackMsMax: FLOOD_MS_MAX,
  },
  limited: {
    title: 'messages on 100 connections that are continued without bytes, each limited to 256 KiB/s',
    ...UNREPORTED,
  },
  unfinished: {
    title: '16 publishers with unfinished messages of 2 MiB, reconnecting',
    ...UNREPORTED,
  },
  tiny: {
    title: '16 publishers of messages without prices, as fast as they can',
    framesMin: FRAMES_MIN,
    livezMsMax: LIVEZ_MS_MAX,
  },
};

const MS: Readonly<Record<Scale, number>> = { full: 5_000, smoke: 300 };
/** The number of kinds in a smoke run: the first ones, each of which prepares or ends in another way. */
const SMOKE_KINDS = 4;
/** The number of rounds. In a round a publisher gets 500 answers, so one pause of the machine of 50 ms is its p99, but not the median. */
const ROUNDS: Readonly<Record<Scale, number>> = { full: 3, smoke: 1 };
const TIMES_SLOWER_MAX = 3;
/** The smallest time without load in the comparison. A shorter time may triple without being a problem. */
const COMPARED_MS_MIN = 5;
/** The largest memory of a slow reader: three times the largest part of a frame that did not fit into the kernel's buffers. */
const SLOW_KB_MAX = 150;
const RANGES_ANSWERED = `tickseal_rest_requests_total{route="${REST_PATHS.range}",status="200"}`;

async function measure(scale: Scale, { only }: Sizes): Promise<Finding[]> {
  const kinds = Object.keys(ATTACKS) as HostileKind[];
  const findings: Finding[] = [];
  for (const kind of scale === 'smoke' ? kinds.slice(0, SMOKE_KINDS) : kinds)
    if (only === undefined || kind === only) findings.push(...(await measureBeside(kind, scale)));
  return findings;
}

async function measureBeside(kind: HostileKind, scale: Scale): Promise<Finding[]> {
  const attack = ATTACKS[kind];
  const { assets = 1_000, slow } = attack;
  const limits = { connections_per_token: 100, publish_connections_per_token: 16, ...attack.limits };
  const { file } = writeTortureConfig({ assets, publishers: 2, clockPeriod: '10s' }, limits);
  const aggregates = attack.past?.[scale];
  const past = aggregates && (await storePast(file, { aggregates, stepNs: 500_000_000n }));
  const service = await startService(file);
  const healthy = await Healthy.open(service, assets);
  const before: Seen[] = [];
  const beside: Seen[] = [];
  let closed = 0;
  while (beside.length < ROUNDS[scale]) {
    await healthy.see(MS[scale] / 4);
    before.push(await healthy.see(MS[scale]));
    const program = [fileURLToPath(new URL('./hostile.js', import.meta.url))];
    const more = past ? past.times[0]! : (slow?.[scale] ?? 0);
    const hostile = await startServer(program, [kind, service.port, assets, more].map(String));
    await healthy.see(MS[scale] / 4);
    beside.push(await healthy.see(MS[scale]));
    if (slow !== undefined) {
      closed += slow[scale];
      await until('the slow readers are closed', async () => (await slowReadersClosed(service)) >= closed);
    }
    if (past) await until('a range is answered', async () => (await rangesAnswered(service)) > 0);
    await hostile.stop();
  }
  const total = await slowReadersClosed(service);
  const ranges = await rangesAnswered(service);
  await healthy.close();
  await service.stop();
  const [seenBefore, seenBeside] = [typical(before), typical(beside)];
  return [
    ...findingsOf(attack, seenBefore, seenBeside),
    ...(past ? [measured('  answers begun', ranges, '', SOME)] : []),
    ...(slow === undefined
      ? []
      : [
          measured('  closed as too slow', total, '', exactly(closed)),
          timing('  memory of each', (seenBeside.bytes - seenBefore.bytes) / slow[scale] / 1_000, 'KB', {
            atMost: SLOW_KB_MAX,
          }),
        ]),
  ];
}

async function rangesAnswered(service: ServerProcess): Promise<number> {
  return (await readMetrics(service)).get(RANGES_ANSWERED) ?? 0;
}

async function slowReadersClosed(service: ServerProcess): Promise<number> {
  return (await readMetrics(service)).get('tickseal_stream_slow_consumers_closed_total')!;
}

/** Returns the median of each figure. */
function typical(rounds: readonly Seen[]): Seen {
  const figures = Object.keys(rounds[0]!) as (keyof Seen)[];
  return Object.fromEntries(
    figures.map((figure) => [figure, median(rounds.map((seen) => seen[figure]))]),
  ) as unknown as Seen;
}

function findingsOf(attack: Attack, before: Seen, beside: Seen): Finding[] {
  const { title, framesMin, tripled } = attack;
  const atMost = (ms: number | undefined) => (ms === undefined ? undefined : { atMost: ms });
  const triple = (figure: 'restMs' | 'ackMs') =>
    tripled === figure ? TIMES_SLOWER_MAX * Math.max(before[figure], COMPARED_MS_MIN) : undefined;
  const share = (100 * beside.framesPerSecond) / before.framesPerSecond;
  return [
    timing(title, beside.cpuShare * 100, '% of a core'),
    timing('  frames of a reader before', before.framesPerSecond, '/s'),
    timing('  beside it', share, '%', framesMin === undefined ? undefined : { atLeast: framesMin }),
    timing('  REST p99 before', before.restMs, 'ms'),
    timing('  beside it', beside.restMs, 'ms', atMost(triple('restMs'))),
    timing('  /livez p99 before', before.livezMs, 'ms'),
    timing('  beside it', beside.livezMs, 'ms', atMost(attack.livezMsMax)),
    timing('  ack p99 before', before.ackMs, 'ms'),
    timing('  beside it', beside.ackMs, 'ms', atMost(attack.ackMsMax ?? triple('ackMs'))),
    timing('  longest delay of the event loop', beside.loopDelayMs, 'ms', atMost(attack.loopDelayMsMax)),
  ];
}
