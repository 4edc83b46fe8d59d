import { availableParallelism } from 'node:os';
import { SERVICE_KEY } from '../../scripts/load/keys.js';
import { readMetrics } from '../../scripts/load/metrics.js';
import { openStreams, type Streams } from '../../scripts/load/streams.js';
import { measureUsage } from '../../scripts/load/usage.js';
import { pause } from '../../scripts/load/wait.js';
import { keccak256 } from '../../src/crypto/keccak.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import type { Measurement, Row, Scale } from '../harness/row.js';
import { callsPerCpuSecond, pacedCallsPerCpuSecond } from '../harness/stage.js';
import { startPeer } from '../peers/start.js';
import { startPricedService } from '../workloads/priced_service.js';
import { signOnAllCores } from '../workloads/sign_on_all_cores.js';

const ASSETS = 1_000;
const ASSETS_PER_CONNECTION = 20;
const CONNECTIONS: Readonly<Record<Scale, number>> = { full: 1_000, smoke: 20 };
const TICKS_PER_SECOND = 10;
/** The size of a body: the taxonomy ID, the time, and 20 pairs of an ID and a price. */
const BODY_BYTES = 10 + ASSETS_PER_CONNECTION * 18;
/** The size of a JSON frame with such a body. */
const FRAME_BYTES = 32 + 2 * (65 + BODY_BYTES);
/** The time in which V8 compiles most of the code of a tick. Its threads take 1.2 µs a frame after 4 to 16 s, and 0.3 µs later. */
const SETTLE_MS: Readonly<Record<Scale, number>> = { full: 20_000, smoke: 50 };
/** The same for a server that only signs and sends. */
const BARE_SETTLE_MS: Readonly<Record<Scale, number>> = { full: 4_000, smoke: 20 };
/** The time for which the bench only signs, at the rate of the ticks. */
const PACED_SECONDS: Readonly<Record<Scale, number>> = { full: 3, smoke: 0.1 };
const MEASURE_MS: Readonly<Record<Scale, number>> = { full: 6_000, smoke: 210 };
/** The smallest allowed ratio to the rate of signing alone. */
const SIGNING_RATIO_MIN = 0.65;
/** The server that only signs and sends, and the smallest allowed ratio to its rate when its own rate misses {@link SIGNING_RATIO_MIN}. */
const BARE_SENDS = {
  name: 'bare Keccak + sign, and uWS send',
  source: { variant: 'bare uWS', figure: 'frames/s per core' },
};
const BARE_SENDS_RATIO_MIN = 0.9;
/**
 * The largest allowed growth of the main thread's memory. Some growth is normal, because the number of queued frames varies. A
 * queue that is never drained would grow by about 58 MiB: 1,000 frames of 1 KB every 100 ms for 6 s.
 */
const GROWTH_MIB_MAX = 8;
const COLLECT_GARBAGE = new URL('../workloads/collect_garbage.js', import.meta.url).href;

export const distinctSets: Row = {
  name: 'distinct-sets',
  title: 'Distinct sets: 1,000 connections, each its own 20 assets, 100 ms, signed',
  method:
    '10,000 signatures a second are due. What must be reached is 0.8 of what is due, or of what all cores can sign where ' +
    'that is less: Keccak-256 and libsecp256k1 alone on bodies of the same size, times the cores. The same per core of ' +
    'CPU time, where ours pays for encoding and one socket write a frame too. ' +
    'A core that was idle is slower at first, so the bare signatures are also made at the pace of the ticks, all of a tick in one go; ' +
    'and the service signs on all cores at once, so they are also made so. ' +
    'A server that only signs a body for each connection every 100 ms, and sends it a frame of the same size with uWebSockets.js, shows how much of the bare loop is left beside the writes; where that is less than the bound, a share of it is the bound. ' +
    'Memory is what the main thread holds after its garbage has been collected.',
  limit:
    'A server that only signs and sends decides whether 0.65 can be reached: how long its writes take depends on how often the client wakes. On a busy machine, with real-time priority (`chrt`) for ' +
    'server and client, it reached 28,000 frames/s per core (median of 6 turns), 0.70 of about 40,000 of the bare loop, and the service 28,200 (3 turns). With this priority for the server alone the bare loop takes 24.6 µs, the server that also sends 28.2, ' +
    'and a frame of the service 32.2 (5 turns, 20 s after the start). By a profile (`perf`) 20 of these are the signature, 5 the kernel, ' +
    'which takes 1 KB to a socket of its own for each frame, and 1 is Keccak. The other 6 µs are ' +
    'the body and its hex, the time that is signed, who pays for it, the way of the digests to the threads and back, and the call of the ' +
    'socket. The writes do not wake the client for each frame: 128 frames are written in one go, and the client wakes 6 to 10 times a tick. ' +
    'What is beside the signature takes as long on a quiet machine, whose signatures are faster, so there it weighs more.',
  rounds: 2,
  variants: {
    service: (scale) => measureService(scale),
    'keccak + sign': measureSigning,
    'bare uWS': measureBareSends,
  },
  lines: () => [
    {
      name: 'delivered',
      unit: 'frames/s',
      ours: { variant: 'service', figure: 'frames/s' },
      peers: [
        {
          name: 'due, or what the cores can sign',
          source: { variant: 'keccak + sign', figure: 'frames/s' },
          ratio: { atLeast: 0.8 },
        },
      ],
      shown: [
        { name: 'server', unit: 'cores', source: { variant: 'service', figure: 'server cores' } },
        { name: 'client', unit: 'cores', source: { variant: 'service', figure: 'client cores' } },
      ],
    },
    {
      name: 'per core',
      unit: 'frames/s per core',
      ours: { variant: 'service', figure: 'frames/s per core' },
      peers: [
        {
          name: 'bare Keccak + sign',
          source: { variant: 'keccak + sign', figure: 'per core' },
          ratio: { atLeast: SIGNING_RATIO_MIN },
          bare: { ...BARE_SENDS, atLeast: BARE_SENDS_RATIO_MIN },
        },
        {
          name: 'the same every 100 ms',
          source: { variant: 'keccak + sign', figure: 'per core, paced' },
        },
        {
          name: 'the same on all cores at once',
          source: { variant: 'keccak + sign', figure: 'per core, all cores' },
        },
        BARE_SENDS,
      ],
    },
    {
      name: 'delivered and skipped as the counter says',
      unit: 'of the frames due',
      ours: { variant: 'service', figure: 'accounted' },
      bound: { atLeast: 0.98 },
      peers: [],
      shown: [{ name: 'skipped', unit: 'ticks/s', source: { variant: 'service', figure: 'skipped/s' } }],
    },
    {
      name: 'memory that it grew by in 6 s',
      unit: 'MiB',
      ours: { variant: 'service', figure: 'growth MiB' },
      bound: { atMost: GROWTH_MIB_MAX },
      peers: [],
    },
  ],
};

/** @param threads the number of threads of the service */
export async function measureService(scale: Scale, threads?: number): Promise<Measurement> {
  const { service } = await startPricedService(
    { assets: ASSETS, clockPeriod: '60s', ...(threads !== undefined && { threads }) },
    { nodeOptions: `--import ${COLLECT_GARBAGE}`, probed: true },
  );
  const streams = await openDistinctStreams(service.port, scale);
  await pause(SETTLE_MS[scale]);
  const skippedBefore = await ticksSkipped();
  const heldBefore = await heldBytes();
  const framesBefore = streams.frames;
  const end = measureUsage(service);
  await pause(MEASURE_MS[scale]);
  const usage = end();
  const frames = streams.frames - framesBefore;
  const skipped = (await ticksSkipped()) - skippedBefore;
  const grownBytes = (await heldBytes()) - heldBefore;
  if (streams.closed > 0) throw new Error(`${streams.closed} connections were closed`);
  streams.close();
  await service.stop();
  const due = CONNECTIONS[scale] * TICKS_PER_SECOND * usage.wallSeconds;
  return {
    figures: {
      'frames/s': frames / usage.wallSeconds,
      'frames/s per core': frames / usage.serverCpuSeconds,
      'server cores': usage.serverShare,
      'client cores': usage.clientShare,
      'skipped/s': skipped / usage.wallSeconds,
      accounted: (frames + skipped) / due,
      'growth MiB': grownBytes / 2 ** 20,
    },
  };

  async function heldBytes(): Promise<number> {
    return (await service.ask('collect')) as number;
  }

  async function ticksSkipped(): Promise<number> {
    return (await readMetrics(service)).get('tickseal_stream_ticks_skipped_total')!;
  }
}

function openDistinctStreams(port: number, scale: Scale): Promise<Streams> {
  return openStreams({
    port,
    query: 'channel=100ms&message_type=signed_ecdsa',
    count: CONNECTIONS[scale],
    assetsOf: (connection) =>
      Array.from({ length: ASSETS_PER_CONNECTION }, (_, i) => (connection + i) % ASSETS),
  });
}

/** Measures a server that signs a body for each connection, and sends it a frame that is always the same. */
async function measureBareSends(scale: Scale): Promise<Measurement> {
  const intervalMs = 1_000 / TICKS_PER_SECOND;
  const server = await startPeer('uws_signed', `${intervalMs}`, `${BODY_BYTES}`, `${FRAME_BYTES}`);
  const streams = await openDistinctStreams(server.port, scale);
  await pause(BARE_SETTLE_MS[scale]);
  const framesBefore = streams.frames;
  const end = measureUsage(server);
  await pause(MEASURE_MS[scale]);
  const { serverCpuSeconds } = end();
  const frames = streams.frames - framesBefore;
  streams.close();
  await server.stop();
  return { figures: { 'frames/s per core': frames / serverCpuSeconds } };
}

async function measureSigning(scale: Scale): Promise<Measurement> {
  const body = Buffer.alloc(BODY_BYTES, 1);
  const sign = () => secp256k1.sign(keccak256(body), SERVICE_KEY);
  const perCore = callsPerCpuSecond(scale, sign);
  const pace = {
    calls: CONNECTIONS[scale],
    everyMs: 1_000 / TICKS_PER_SECOND,
    seconds: PACED_SECONDS[scale],
  };
  const paced = await pacedCallsPerCpuSecond(pace, sign);
  const allCores = await signOnAllCores(scale, BODY_BYTES);
  const due = CONNECTIONS[scale] * TICKS_PER_SECOND;
  return {
    figures: {
      'per core': perCore,
      'per core, paced': paced,
      'per core, all cores': allCores,
      'frames/s': Math.min(due, allCores * availableParallelism()),
    },
  };
}
