import { availableParallelism } from 'node:os';
import { SERVICE_KEY } from '../../scripts/load/keys.js';
import { readMetrics } from '../../scripts/load/metrics.js';
import { startPricedService } from '../../scripts/load/priced_service.js';
import { openStreams } from '../../scripts/load/streams.js';
import { pause } from '../../scripts/load/wait.js';
import { keccak256 } from '../../src/crypto/keccak.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import type { Figures, Measurement, Row, Scale } from '../harness/row.js';
import { callsPerCpuSecond } from '../harness/stage.js';
import { addCores, coresOf } from '../harness/used_cores.js';
import { countFrames } from '../workloads/frames.js';

export const SET_ASSETS = 1_000;
const ASSETS_PER_CONNECTION = 20;
const CONNECTIONS: Readonly<Record<Scale, number>> = { full: 1_000, smoke: 20 };
const TICKS_PER_SECOND = 10;
/** The size of a body: the taxonomy ID, the time, and 20 pairs of an ID and a price. */
const BODY_BYTES = 10 + ASSETS_PER_CONNECTION * 18;
/** The time in which V8 compiles most of the code of a tick. Its threads take 1.2 µs a frame after 4 to 16 s, and 0.3 µs later. */
const SETTLE_MS: Readonly<Record<Scale, number>> = { full: 16_000, smoke: 50 };
/** The time after a forced collection of garbage, in which V8 clears the memory. It takes 1 µs a frame for 4 s. */
const COLLECTED_MS: Readonly<Record<Scale, number>> = { full: 4_000, smoke: 10 };
const MEASURE_MS: Readonly<Record<Scale, number>> = { full: 6_000, smoke: 210 };
/**
 * The largest allowed growth of the main thread's memory. Some growth is normal, because the number of queued frames varies. A
 * queue that is never drained would grow by about 97 MiB: 1,000 frames of 1 KB every 100 ms for 10 s.
 */
const GROWTH_MIB_MAX = 8;
const MEMORY_PROBE = new URL('../../scripts/load/memory_probe.js', import.meta.url).href;

export const distinctSets: Row = {
  name: 'distinct-sets',
  title: 'Distinct sets: 1,000 connections, each its own 20 assets, 100 ms, signed',
  method:
    '10,000 signatures a second are due. What must be reached is 0.8 of what is due, or of what all cores can sign where ' +
    'that is less: Keccak-256 and libsecp256k1 alone on bodies of the same size, times the cores. The same per core of ' +
    'CPU time, where ours pays for encoding and one socket write a frame too. The clock signs no aggregate meanwhile. ' +
    'Memory is what the main thread holds after its garbage has been collected.',
  limit:
    'By a profile on Node 24 with both cores free, the bare loop takes 17.9 µs, and a frame of the service 26.5: 15.5 are the signature, 5.3 the kernel, which writes to each socket, 0.7 Keccak, ' +
    '2.1 JavaScript (the body and its hex, who pays for it, and the connections that may take it), 1.6 V8, the way to the threads and back and the calls to C++, 0.8 uWebSockets.js and memory, ' +
    'and 0.3 to 0.6 threads of V8. On machines with other work the ratio is lower, because writes find the caches cold and depend on how often the client wakes.',
  rounds: 3,
  variants: { service: (scale) => measureService(scale), 'bare Keccak + sign': measureSigning },
  lines: () => [
    {
      name: 'delivered',
      unit: 'frames/s',
      variant: 'service',
      figure: 'frames/s',
      peers: [
        {
          name: 'due, or what the cores can sign',
          variant: 'bare Keccak + sign',
          figure: 'frames/s',
          ratio: { atLeast: 0.8 },
        },
      ],
      shown: coresOf('service', 'frames/s'),
    },
    {
      name: 'per core',
      unit: 'frames/s per core',
      variant: 'service',
      figure: 'per core',
      peers: [{ variant: 'bare Keccak + sign', figure: 'per core', ratio: { atLeast: 0.65 } }],
    },
    {
      name: 'delivered and skipped as the counter says',
      unit: 'of the frames due',
      variant: 'service',
      figure: 'accounted',
      bound: { atLeast: 0.98 },
      shown: [{ name: 'skipped', unit: 'ticks/s', variant: 'service', figure: 'skipped/s' }],
    },
    {
      name: 'memory that it grew by in 10 s',
      unit: 'MiB',
      variant: 'service',
      figure: 'growth MiB',
      bound: { atMost: GROWTH_MIB_MAX },
    },
  ],
};

/** @param threads the number of threads of the service */
export async function measureService(scale: Scale, threads?: number): Promise<Measurement> {
  const { service } = await startPricedService(
    { assets: SET_ASSETS, clockPeriod: '1d', ...(threads !== undefined && { threads }) },
    { nodeOptions: `--import ${MEMORY_PROBE}`, probed: true },
  );
  const ticksSkipped = async () => (await readMetrics(service)).get('tickseal_stream_ticks_skipped_total')!;
  const heldBytes = async () => (await service.ask('held bytes')) as number;
  const streams = await openStreams({
    port: service.port,
    query: 'channel=100ms&message_type=signed_ecdsa',
    count: CONNECTIONS[scale],
    assetsOf: setOf,
  });
  await pause(SETTLE_MS[scale]);
  const heldBefore = await heldBytes();
  await pause(COLLECTED_MS[scale]);
  const skippedBefore = await ticksSkipped();
  const end = countFrames(service, streams);
  await pause(MEASURE_MS[scale]);
  const usage = end();
  const skipped = (await ticksSkipped()) - skippedBefore;
  const grownBytes = (await heldBytes()) - heldBefore;
  if (streams.closed > 0) throw new Error(`${streams.closed} connections were closed`);
  streams.close();
  await service.stop();
  const due = CONNECTIONS[scale] * TICKS_PER_SECOND * usage.wallSeconds;
  const figures: Figures = {
    'frames/s': usage.frames / usage.wallSeconds,
    'per core': usage.framesPerCpuSecond,
    'skipped/s': skipped / usage.wallSeconds,
    accounted: (usage.frames + skipped) / due,
    'growth MiB': grownBytes / 2 ** 20,
  };
  addCores(figures, 'frames/s', usage);
  return { figures };
}

/** Returns the assets of a connection. Up to {@link SET_ASSETS} connections have different sets. */
export function setOf(connection: number): number[] {
  return Array.from({ length: ASSETS_PER_CONNECTION }, (_, i) => (connection + i) % SET_ASSETS);
}

async function measureSigning(scale: Scale): Promise<Measurement> {
  const body = Buffer.alloc(BODY_BYTES, 1);
  const perCore = callsPerCpuSecond(scale, () => secp256k1.sign(keccak256(body), SERVICE_KEY));
  const due = CONNECTIONS[scale] * TICKS_PER_SECOND;
  return {
    figures: { 'per core': perCore, 'frames/s': Math.min(due, perCore * availableParallelism()) },
  };
}
