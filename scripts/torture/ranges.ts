import { createHash } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readMetrics } from '../load/metrics.js';
import { type ServerProcess, startServer, startService } from '../load/server_process.js';
import { sum } from '../load/statistics.js';
import { storePast } from '../load/stored_past.js';
import { pause } from '../load/wait.js';
import { type Check, count, type Finding, measured, type Scale, SOME, timing } from './check.js';
import { Healthy } from './healthy.js';
import { changeConfig, until, writeTortureConfig } from './service.js';

/** The check with readers of the past, half of which never read, while another token has a reader of a stream. */
export const ranges: Check = {
  name: 'ranges',
  title: 'readers of the past, beside a reader of a stream',
  run: measure,
};

const SIZES: Readonly<
  Record<Scale, { readonly readers: number; readonly aggregates: number; readonly ms: number }>
> = {
  full: { readers: 1_000, aggregates: 5_000, ms: 8_000 },
  smoke: { readers: 20, aggregates: 100, ms: 300 },
};
export const RANGE_ASSETS = 10;
const STEP_NS = 500_000_000n;
/** The smallest share of frames, in percent, that the reader of a stream must still get. */
const FRAMES_SHARE_MIN = 90;
const LIVEZ_MS_MAX = 100;
/**
 * The share of the readers that come first. A busy thread has about 80 MB of garbage, however many readers it has, so the check compares the
 * memory with few readers and with all.
 */
const FEW_SHARE = 0.25;
/** The largest memory of the service for each further reader of the past. */
const READER_BYTES_MAX = 150_000;
/** The longest wait until the readers are served, and the time between two looks at the memory. */
const SERVED_MS_MAX = 100_000;
const SAMPLE_MS = 500;
/** The largest number of open files, without sockets, that the readers may add: those of eight hours, and logs. */
const FILES_MAX = 24;

/** The number of requests for the past that a token may have at the same time, on one thread. */
const REQUESTS_AT_ONCE = 16;

/** Returns the token of a reader. As many readers as a token allows share the token. */
export function rangeToken(reader: number): string {
  return `range-${Math.floor(reader / REQUESTS_AT_ONCE)}`;
}

async function measure(scale: Scale): Promise<Finding[]> {
  const { readers, aggregates, ms } = SIZES[scale];
  const { file } = writeTortureConfig({ assets: RANGE_ASSETS, publishers: 2, clockPeriod: '10s' });
  changeConfig(file, ({ tokens }) => {
    for (const token of new Set(Array.from({ length: readers }, (_, reader) => rangeToken(reader))))
      tokens.push({ ...tokens[0], name: token, sha256: createHash('sha256').update(token).digest('hex') });
  });
  const { times } = await storePast(file, { aggregates, stepNs: STEP_NS });
  const service = await startService(file);
  const healthy = await Healthy.open(service, RANGE_ASSETS);
  await healthy.see(ms / 4);
  const before = await healthy.see(ms);
  const filesBefore = openFiles(service);
  const crowdOf = (first: number, end: number) =>
    startServer(
      [fileURLToPath(new URL('./hostile.js', import.meta.url))],
      ['past', service.port, first, end, times[0]!, times.at(-1)!].map(String),
    );
  const few = Math.ceil(readers * FEW_SHARE);
  const crowds = [await crowdOf(0, few)];
  const { bytes: bytesOfFew } = await served(service, few);
  crowds.push(await crowdOf(few, readers));
  await healthy.see(ms / 4);
  const beside = await healthy.see(ms);
  const filesBeside = openFiles(service);
  const { answers, bytes } = await served(service, readers);
  const grownBytes = bytes - bytesOfFew;
  for (const crowd of crowds) await crowd.stop();
  await until('the files are closed', () => openFiles(service) <= filesBefore + 1);
  await healthy.close();
  await service.stop();
  const share = (100 * beside.framesPerSecond) / before.framesPerSecond;
  return [
    measured(
      `${readers} readers of the past, half of which never read`,
      beside.cpuShare * 100,
      '% of a core',
    ),
    timing('  answers that the service has begun', answers, '', SOME),
    measured('  time without a free core', beside.waitShare * 100, '%'),
    measured('frames of a reader before', before.framesPerSecond, '/s'),
    timing('  beside them', share, '%', { atLeast: FRAMES_SHARE_MIN }),
    measured('/livez p99 before', before.livezMs, 'ms'),
    timing('  beside them', beside.livezMs, 'ms', { atMost: LIVEZ_MS_MAX }),
    measured('REST p99 before', before.restMs, 'ms'),
    measured('  beside them', beside.restMs, 'ms'),
    // With few readers, the figure mostly shows the growth of other memory.
    timing(
      'memory of the service for a further reader of the past',
      grownBytes / (readers - few) / 1000,
      'KB',
      { atMost: READER_BYTES_MAX / 1000 },
    ),
    count('open files, without sockets, before', filesBefore),
    count('  beside them', filesBeside, { atMost: filesBefore + FILES_MAX }),
  ];
}

/**
 * Waits until the service has begun as many answers as there are readers, because a reader that waits for its first row needs less memory.
 * @returns the number of answers, and the largest memory of the service until then
 */
async function served(
  service: ServerProcess,
  readers: number,
): Promise<{ readonly answers: number; readonly bytes: number }> {
  const endMs = performance.now() + SERVED_MS_MAX;
  for (let bytes = 0; ; await pause(SAMPLE_MS)) {
    bytes = Math.max(bytes, service.anonymousBytes());
    const answers = await answersOfThePast(service);
    if (answers >= readers || performance.now() > endMs) return { answers, bytes };
  }
}

/** Returns the number of answers with prices of the past. */
async function answersOfThePast(service: ServerProcess): Promise<number> {
  const series = [...(await readMetrics(service))];
  return sum(
    series.map(([name, count]) =>
      /route="\/v1\/prices\/(?:range|at)",status="200"\}$/.test(name) ? count : 0,
    ),
  );
}

/** Returns the number of open files of the service, without sockets. Linux only. */
function openFiles({ pid }: ServerProcess): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((handle) => {
    try {
      return !readlinkSync(`${folder}/${handle}`).startsWith('socket:');
    } catch {
      // The handle was closed after the listing.
      return false;
    }
  }).length;
}
