import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { startService } from '../load/server_process.js';
import { openStreams } from '../load/streams.js';
import { Updates } from '../load/updates.js';
import { pause } from '../load/wait.js';
import { type Account, enter, missing, servedAccount } from './account.js';
import { type Check, count, exactly, NONE, type Scale, SOME, timing } from './check.js';
import { AckedPublisher, keepSending } from './publisher.js';
import { readiness, until, writeTortureConfig } from './service.js';

/** The check with a data folder on a file system that becomes full for some time. */
export const disk: Check = {
  name: 'disk',
  title: 'a full disk under load',
  run: measure,
};

const FULL_MS: Readonly<Record<Scale, number>> = { full: 5_000, smoke: 300 };
const ASSETS = 10;
const READERS = 100;
const TICK_MS = 100;
/** The command that starts a mount namespace. No other process sees the small file system, and the file system ends with the process. */
const NAMESPACE = ['unshare', '-r', '-m', 'sh', '-c'];

async function measure(scale: Scale) {
  const { file, storageDir } = writeTortureConfig({ assets: ASSETS });
  mkdirSync(storageDir);
  const mount = `mount -t tmpfs -o size=24m,mode=0700 none '${storageDir}'`;
  const [command, ...args] = [...NAMESPACE, mount];
  if (spawnSync(command!, args).status !== 0)
    return { skipped: 'not allowed to mount a small file system (unshare -r -m)' };
  const wrapper = [...NAMESPACE, `${mount} && exec "$0" "$@"`];
  const service = await startService(file, { wrapper, isQuiet: true });
  const { port } = service;
  const updates = new Updates('evm');
  const assets = Array.from({ length: ASSETS }, (_, asset) => asset);
  const publisher = await AckedPublisher.open({ port, publisher: 0, assets, ack: 'durable', updates });
  const stop = keepSending([publisher], TICK_MS);
  const query = `channel=${TICK_MS}ms`;
  const streams = await openStreams({ port, query, count: READERS, assetsOf: () => assets });
  await until('every asset is on disk', () => publisher.acknowledged.size === ASSETS);

  // The path of a file in the data folder, through the service's mount namespace.
  const ballast = `/proc/${service.pid}/root${storageDir}/ballast`;
  fill(ballast);
  await until('the service notices it', async () => (await readiness(service)).status === 503);
  const acceptedBefore = publisher.updatesAccepted;
  const errorsBefore = publisher.errors.length;
  const framesBefore = streams.frames;
  await pause(FULL_MS[scale]);
  // The check waits for events, because on a busy machine a smoke run may be too short for any event.
  await until('an update is answered', () => publisher.errors.length > errorsBefore);
  await until('a frame comes', () => streams.frames > framesBefore);
  const acceptedMeanwhile = publisher.updatesAccepted - acceptedBefore;
  const errors = publisher.errors.slice(errorsBefore);
  const notOnDisk = errors.filter((error) => error.includes('not on disk')).length;
  const frames = streams.frames - framesBefore;
  const { reason } = await readiness(service);

  rmSync(ballast);
  const startMs = performance.now();
  await until('it is ready again', async () => (await readiness(service)).status === 200);
  const recoveryMs = performance.now() - startMs;
  await until(
    'something is acknowledged again',
    () => publisher.updatesAccepted > acceptedBefore + acceptedMeanwhile,
  );
  stop();
  await until('all is answered', () => publisher.unanswered === 0);
  const acknowledged: Account = new Map();
  enter(acknowledged, publisher);
  const symbols = [...publisher.acknowledged.keys()];
  const lost = missing(acknowledged, await servedAccount(service, symbols, acknowledged));
  const closed = streams.closed + Number(publisher.isClosed);
  service.signal('SIGTERM');
  const { code } = await service.ended;
  return [
    count('durable acknowledgements while it is full', acceptedMeanwhile, NONE),
    count('  answers that say the update is not on disk', notOnDisk, SOME),
    count('/readyz names the data folder', Number(/data folder cannot be written/.test(reason)), exactly(1)),
    count('frames meanwhile', frames, SOME),
    count('connections closed', closed, NONE),
    timing('ready again after there is room', recoveryMs, 'ms', { atMost: 5_000 }),
    count('acknowledged and not served afterwards', lost, NONE),
    count('exit status', code ?? Number.NaN, NONE),
  ];
}

/** Fills the file system. The service may write to it at the same time. */
function fill(ballast: string): void {
  const handle = openSync(ballast, 'w');
  const page = Buffer.alloc(4096);
  try {
    while (writeSync(handle, page) > 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(handle);
  }
}
