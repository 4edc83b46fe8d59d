import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { type ServerProcess, startServer, startService } from '../load/server_process.js';
import { median } from '../load/statistics.js';
import { openStreams } from '../load/streams.js';
import { type Check, type Finding, type Scale, type Sizes, timing } from './check.js';
import { Healthy, type Seen } from './healthy.js';
import { changeConfig, until, writeTortureConfig } from './service.js';

/** The check with a token that uses all its limits, while another token has a reader and a publisher. */
export const fair: Check = {
  name: 'fair',
  title: 'one token uses all that it may',
  run: measure,
};

/** The number of assets of the service. Each subscribed set of a hostile client contains all assets except one. */
export const HOSTILE_ASSETS = 1_000;
/** The number of publishers that a token may have: the default of `publish_connections_per_token`. */
export const HOSTILE_PUBLISHERS = 16;

const MS: Readonly<Record<Scale, number>> = { full: 8_000, smoke: 300 };
/**
 * The kinds of hostile clients in a smoke run: the kind during which the check revokes a token, and a kind that opens connections
 * repeatedly.
 */
const SMOKE_KINDS: readonly HostileKind[] = ['junk', 'forged'];
/** The number of publishers of `forged`. */
const FORGING_PUBLISHERS: Readonly<Record<Scale, number>> = {
  full: HOSTILE_PUBLISHERS,
  smoke: 5,
};
const REVOKED_TOKEN = 'revoked';
/** The smallest share of frames, in percent, that a reader must still get. */
const FRAMES_SHARE_MIN = 90;
const LIVEZ_MS_MAX = 100;
/** The bounds beside bytes that uWebSockets.js does not report. */
const UNREPORTED: readonly HostileKind[] = ['limited', 'unfinished'];
const UNREPORTED_FRAMES_SHARE_MIN = 75;
const UNREPORTED_LIVEZ_MS_MAX = 250;
/** The bound of answers and `/livez` beside a flood. */
const FLOOD_MS_MAX = 20;
const REVOCATION_MS_MAX = 1_000;
const LOOP_DELAY_MS_MAX = 100;
const TIMES_SLOWER_MAX = 3;
/** The smallest time without load in the comparison. A shorter time may triple without being a problem. */
const REST_MS_MIN = 5;
/** The kinds beside which the p99 of a healthy client is compared with its p99 before. */
const COMPARED: readonly HostileKind[] = ['subscriptions', 'forged'];
/**
 * The number of rounds without and with the load, for {@link COMPARED}. In 8 s a publisher gets 800 answers, so one pause of the machine
 * of 80 ms is its p99. The median of three rounds still contains each delay that the load causes in every round.
 */
const COMPARED_ROUNDS: Readonly<Record<Scale, number>> = { full: 3, smoke: 1 };

/** The kinds of hostile clients. */
const TITLES = {
  signed: '100 connections × 999 assets, sets of their own, signed, 10ms',
  subscriptions: '999 assets subscribed and unsubscribed, 10/s on 100 connections',
  junk: '10 publishers with 1 MB of junk each, as fast as they can',
  forged: '16 publishers with 999 bad signatures each, reconnecting',
  flood: '20,000 bad signatures a second on one connection',
  limited:
    'messages on 100 connections that are continued without bytes, each limited to 256 KiB/s in front of the service',
  unfinished: '16 publishers with unfinished messages of 2 MiB, reconnecting',
  tiny: '16 publishers of messages without prices, as fast as they can',
} as const;
export type HostileKind = keyof typeof TITLES;

async function measure(scale: Scale, { only }: Sizes): Promise<Finding[]> {
  const kinds = scale === 'smoke' ? SMOKE_KINDS : (Object.keys(TITLES) as HostileKind[]);
  const findings: Finding[] = [];
  for (const kind of kinds.filter((one) => only === undefined || one === only))
    findings.push(...(await measureBeside(kind, scale)));
  return findings;
}

async function measureBeside(kind: HostileKind, scale: Scale): Promise<Finding[]> {
  const { file } = writeTortureConfig(
    { assets: HOSTILE_ASSETS, publishers: 2, clockPeriod: '10s' },
    { connections_per_token: 100, publish_connections_per_token: HOSTILE_PUBLISHERS },
  );
  const sha256 = createHash('sha256').update(REVOKED_TOKEN).digest('hex');
  changeConfig(file, ({ tokens }) => tokens.push({ ...tokens[0], name: REVOKED_TOKEN, sha256 }));
  const service = await startService(file);
  const healthy = await Healthy.open(service, HOSTILE_ASSETS);
  const before: Seen[] = [];
  const beside: Seen[] = [];
  let revokedMs: number | undefined;
  const rounds = COMPARED.includes(kind) ? COMPARED_ROUNDS[scale] : 1;
  while (beside.length < rounds) {
    await healthy.see(MS[scale] / 4);
    before.push(await healthy.see(MS[scale]));
    const hostile = await startServer(
      [fileURLToPath(new URL('./hostile.js', import.meta.url))],
      [kind, service.port, FORGING_PUBLISHERS[scale]].map(String),
    );
    await healthy.see(MS[scale] / 4);
    beside.push(await healthy.see(MS[scale]));
    if (kind === 'junk') revokedMs = await revoke(service, file);
    await hostile.stop();
  }
  await healthy.close();
  await service.stop();
  return findingsOf(kind, typical(before), typical(beside), revokedMs);
}

/** Returns the median of each figure, and the longest delay of the event loop. */
function typical(rounds: readonly Seen[]): Seen {
  const of = (figure: keyof Seen) => rounds.map((seen) => seen[figure]);
  return {
    framesPerSecond: median(of('framesPerSecond')),
    restMs: median(of('restMs')),
    livezMs: median(of('livezMs')),
    ackMs: median(of('ackMs')),
    loopDelayMs: Math.max(...of('loopDelayMs')),
    cpuShare: median(of('cpuShare')),
    waitShare: median(of('waitShare')),
  };
}

/** @returns the time in ms from SIGHUP until a connection ends whose token is no longer in the configuration */
async function revoke(service: ServerProcess, file: string): Promise<number> {
  let endedMs = Number.NaN;
  await openStreams({
    port: service.port,
    query: 'channel=1s',
    count: 1,
    token: REVOKED_TOKEN,
    assetsOf: () => [0],
    onClose: () => {
      endedMs = performance.now();
    },
  });
  changeConfig(file, ({ tokens }) => tokens.pop());
  const startMs = performance.now();
  service.signal('SIGHUP');
  await until('the connection is closed', () => !Number.isNaN(endedMs));
  return endedMs - startMs;
}

function findingsOf(kind: HostileKind, before: Seen, beside: Seen, revokedMs: number | undefined): Finding[] {
  const isOf = (...kinds: HostileKind[]) => kinds.includes(kind);
  const triple = (ms: number) => ({ atMost: TIMES_SLOWER_MAX * Math.max(ms, REST_MS_MIN) });
  const share = (100 * beside.framesPerSecond) / before.framesPerSecond;
  const isUnreported = UNREPORTED.includes(kind);
  const framesMin = isUnreported ? UNREPORTED_FRAMES_SHARE_MIN : FRAMES_SHARE_MIN;
  const livezMax = isUnreported ? UNREPORTED_LIVEZ_MS_MAX : isOf('flood') ? FLOOD_MS_MAX : LIVEZ_MS_MAX;
  const isLivezBound = isUnreported || isOf('junk', 'tiny', 'flood');
  const ackMax = isOf('flood') ? { atMost: FLOOD_MS_MAX } : undefined;
  return [
    timing(TITLES[kind], beside.cpuShare * 100, '% of a core'),
    timing('  time without a free core', beside.waitShare * 100, '%'),
    timing('  frames of a reader before', before.framesPerSecond, '/s'),
    timing('  beside it', share, '%', isOf('forged', 'flood') ? undefined : { atLeast: framesMin }),
    timing('  REST p99 before', before.restMs, 'ms'),
    timing('  beside it', beside.restMs, 'ms', isOf('subscriptions') ? triple(before.restMs) : undefined),
    timing('  /livez p99 before', before.livezMs, 'ms'),
    timing('  beside it', beside.livezMs, 'ms', isLivezBound ? { atMost: livezMax } : undefined),
    timing('  ack p99 before', before.ackMs, 'ms'),
    timing('  beside it', beside.ackMs, 'ms', isOf('forged') ? triple(before.ackMs) : ackMax),
    timing(
      '  longest delay of the event loop',
      beside.loopDelayMs,
      'ms',
      isOf('forged') ? { atMost: LOOP_DELAY_MS_MAX } : undefined,
    ),
    ...(revokedMs === undefined
      ? []
      : [timing('  revocation', revokedMs, 'ms', { atMost: REVOCATION_MS_MAX })]),
  ];
}
