import { createHash } from 'node:crypto';
import { type ServerProcess, startService } from '../load/server_process.js';
import { openStreams, type Streams } from '../load/streams.js';
import { Updates } from '../load/updates.js';
import { pause } from '../load/wait.js';
import { type Account, enter, missing, storedAccount } from './account.js';
import { type Check, count, type Finding, measured, NONE, type Scale, SOME, timing } from './check.js';
import { FrameGaps } from './frame_gaps.js';
import { AckedPublisher, keepSending } from './publisher.js';
import { changeConfig, until, writeTortureConfig } from './service.js';

/** The check with a reload and then a shutdown, under load and with many sockets. */
export const signals: Check = {
  name: 'signals',
  title: 'SIGHUP and SIGTERM with many sockets under load',
  run: measure,
};

const SIZES: Readonly<Record<Scale, Sizes>> = {
  full: { readers: 5_000, revoked: 50, steadyMs: 2_000 },
  smoke: { readers: 20, revoked: 2, steadyMs: 200 },
};

interface Sizes {
  readonly readers: number;
  /** The number of connections whose token the reload removes. */
  readonly revoked: number;
  readonly steadyMs: number;
}

const ASSETS = 20;
const PUBLISHERS = 4;
const SEND_INTERVAL_MS = 20;
const TICK_MS = 500;
const SPREAD_WINDOW_MS = 100;
/** The default of `limits.drain`. */
const DRAIN_MS = 3_000;
const REVOKED_TOKEN = 'revoked';

interface Close {
  readonly atMs: number;
  readonly code: number | undefined;
}

async function measure(scale: Scale) {
  const { readers, revoked, steadyMs } = SIZES[scale];
  const { file } = writeTortureConfig({ assets: ASSETS, publishers: PUBLISHERS });
  const sha256 = createHash('sha256').update(REVOKED_TOKEN).digest('hex');
  changeConfig(file, ({ tokens }) => tokens.push({ ...tokens[0], name: REVOKED_TOKEN, sha256 }));
  const service = await startService(file);
  const { port } = service;
  const updates = new Updates('evm');
  const publishers = await Promise.all(
    Array.from({ length: PUBLISHERS }, (_, publisher) => {
      const assets = Array.from({ length: ASSETS / 2 }, (__, i) => (publisher * 5 + i) % ASSETS);
      return AckedPublisher.open({ port, publisher, assets, ack: 'durable', updates });
    }),
  );
  const stop = keepSending(publishers, SEND_INTERVAL_MS);
  const closes: Close[] = [];
  const onClose = (code: number | undefined) => closes.push({ atMs: performance.now(), code });
  const query = `channel=${TICK_MS}ms`;
  const leavers = await openStreams({
    port,
    query,
    count: revoked,
    token: REVOKED_TOKEN,
    assetsOf: () => [0],
    onClose,
  });
  const gaps = new FrameGaps();
  const streams = await openStreams({
    port,
    query,
    count: readers,
    assetsOf: (connection) => [connection % ASSETS],
    onFrame: (_payload, connection) => gaps.note(connection),
    onClose,
  });
  await pause(steadyMs);
  const reloaded = await reload(file, service, { leavers, streams, publishers, gaps, closes }, SIZES[scale]);
  const ended = await terminate(file, service, publishers, closes, readers);
  stop();
  return [...reloaded, ...ended];
}

interface Load {
  readonly leavers: Streams;
  readonly streams: Streams;
  readonly publishers: readonly AckedPublisher[];
  readonly gaps: FrameGaps;
  readonly closes: Close[];
}

async function reload(file: string, service: ServerProcess, load: Load, sizes: Sizes): Promise<Finding[]> {
  const { revoked, steadyMs } = sizes;
  const { leavers, streams, publishers, gaps, closes } = load;
  const answersBefore = answersOf(publishers);
  changeConfig(file, (config) => {
    config.tokens.pop();
    config.assets.push({ id: ASSETS, symbol: 'NEWUSD' });
  });
  gaps.take();
  const startMs = performance.now();
  service.signal('SIGHUP');
  await until('the revoked are closed', () => leavers.closed === revoked);
  const revokedMs = performance.now() - startMs;
  await pause(steadyMs);
  await until('an update is answered', () => answersOf(publishers) > answersBefore);
  const longestGapMs = gaps.take();
  const wrongCodes = closes.filter(({ code }) => code !== 4401).length;
  const refused = publishers.reduce((sum, { updatesRejected }) => sum + updatesRejected, 0);
  const findings: Finding[] = [
    count('SIGHUP: sockets closed that need not', streams.closed, NONE),
    count('  of the revoked token, closed with another code', wrongCodes, NONE),
    timing('  all of them closed after', revokedMs, 'ms', { atMost: 1_000 }),
    count('  answers meanwhile', answersOf(publishers) - answersBefore, SOME),
    count('  updates refused', refused, NONE),
    timing(`  longest time without a frame, ticks of ${TICK_MS} ms`, longestGapMs, 'ms', {
      atMost: 3 * TICK_MS,
    }),
  ];
  closes.length = 0;
  return findings;
}

async function terminate(
  file: string,
  service: ServerProcess,
  publishers: readonly AckedPublisher[],
  closes: readonly Close[],
  readers: number,
): Promise<Finding[]> {
  const startMs = performance.now();
  service.signal('SIGTERM');
  const { code } = await service.ended;
  const endMs = performance.now() - startMs;
  await until(
    'every socket has ended',
    () => closes.length === readers && publishers.every((one) => one.isClosed),
  );
  const codes = [...closes.map((close) => close.code), ...publishers.map(({ closeCode }) => closeCode)];
  const acknowledged: Account = new Map();
  for (const publisher of publishers) enter(acknowledged, publisher);
  const lost = missing(acknowledged, await storedAccount(file));
  return [
    count(
      `SIGTERM: of ${readers} readers and ${PUBLISHERS} publishers without 1001`,
      codes.filter((one) => one !== 1001).length,
      NONE,
    ),
    timing('  from the first close to the last', closes.at(-1)!.atMs - closes[0]!.atMs, 'ms', {
      atLeast: DRAIN_MS * 0.8,
      atMost: DRAIN_MS * 2,
    }),
    timing(
      `  most of them within ${SPREAD_WINDOW_MS} ms`,
      (mostWithin(SPREAD_WINDOW_MS, closes) / closes.length) * 100,
      '%',
      { atMost: 20 },
    ),
    count('  acknowledged and not in the store', lost, NONE),
    count('  exit status', code ?? Number.NaN, NONE),
    measured('  until the process has ended', endMs, 'ms'),
  ];
}

function answersOf(publishers: readonly AckedPublisher[]): number {
  return publishers.reduce((sum, { delaysMs }) => sum + delaysMs.length, 0);
}

function mostWithin(windowMs: number, closes: readonly Close[]): number {
  let most = 0;
  let first = 0;
  closes.forEach(({ atMs }, i) => {
    while (atMs - closes[first]!.atMs > windowMs) first++;
    most = Math.max(most, i - first + 1);
  });
  return most;
}
