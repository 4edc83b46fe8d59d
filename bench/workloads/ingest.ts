import assert from 'node:assert/strict';
import { type LoadConfig, writeConfig } from '../../scripts/load/config.js';
import { clientFrame } from '../../scripts/load/frame_socket.js';
import { readMetrics } from '../../scripts/load/metrics.js';
import { openPublisher } from '../../scripts/load/publishers.js';
import { type ServerProcess, startService } from '../../scripts/load/server_process.js';
import { Updates } from '../../scripts/load/updates.js';
import { measureUsage, type Usage } from '../../scripts/load/usage.js';
import { pause } from '../../scripts/load/wait.js';

export interface IngestLoad
  extends Pick<LoadConfig, 'signatureType' | 'assets' | 'publishers' | 'clockPeriod' | 'threads'> {
  readonly updatesPerMessage: number;
  readonly updates: number;
  /** The number of updates before the measurement, so that the service's code is compiled and its tables are full. */
  readonly warmUpUpdates: number;
}

export interface IngestUsage extends Usage {
  readonly updatesPerCpuSecond: number;
}

/**
 * The number of unanswered updates. The number is well below the limits of waiting updates for each connection and for all connections.
 */
const UPDATES_ON_THE_WAY = 3_000;

/**
 * Sends signed updates as fast as the service accepts them, without requesting answers. Each publisher has a socket. The load
 * keeps {@link UPDATES_ON_THE_WAY} updates unanswered, and sends the next updates when these have taken effect. The last message
 * on each socket is invalid, so that the service answers.
 */
export async function measureIngest(load: IngestLoad): Promise<IngestUsage> {
  const { signatureType, publishers } = load;
  const config = writeConfig({ clockPeriod: '60s', ...load });
  const service = await startService(config.file);
  try {
    const sockets = await Promise.all(
      Array.from({ length: publishers }, () => openPublisher(service.port, signatureType)),
    );
    const send = async (batchesOfFrames: readonly (readonly Buffer[])[]) => {
      for (const frames of batchesOfFrames)
        await Promise.all(sockets.map((socket, publisher) => socket.settle(frames[publisher]!)));
    };
    const batches = new Batches(load);
    const warmUp = batches.takeAll(load.warmUpUpdates);
    const measured = batches.takeAll(load.updates);
    await send(warmUp);
    const before = await acceptedAtRest(service);
    const end = measureUsage(service);
    await send(measured);
    const usage = end();
    assert.equal((await acceptedAtRest(service)) - before, load.updates, 'every update is accepted');
    for (const socket of sockets) socket.close();
    return { ...usage, updatesPerCpuSecond: load.updates / usage.serverCpuSeconds };
  } finally {
    await service.stop();
  }
}

/** Makes messages of updates. Publishers and assets take turns. */
class Batches {
  readonly #load: IngestLoad;
  readonly #updates: Updates;
  #made = 0;

  constructor(load: IngestLoad) {
    this.#load = load;
    this.#updates = new Updates(load.signatureType);
  }

  takeAll(updates: number): Buffer[][] {
    const batches: Buffer[][] = [];
    for (let left = updates; left > 0; left -= UPDATES_ON_THE_WAY)
      batches.push(this.#take(Math.min(UPDATES_ON_THE_WAY, left)));
    return batches;
  }

  /** @returns the bytes that each publisher must send. */
  #take(updates: number): Buffer[] {
    const { publishers, assets, updatesPerMessage } = this.#load;
    const frames: Buffer[][] = Array.from({ length: publishers }, () => []);
    for (let left = updates; left > 0; left -= updatesPerMessage) {
      const turn = this.#made++;
      const publisher = turn % publishers;
      const first = Math.floor(turn / publishers) * updatesPerMessage;
      const length = Math.min(updatesPerMessage, left);
      const these = Array.from({ length }, (_, i) => (first + i) % assets);
      frames[publisher]!.push(clientFrame(this.#updates.message(publisher, these)));
    }
    return frames.map((those) => Buffer.concat(those));
  }
}

/** Returns the number of accepted updates, after the service has signed the aggregates of first prices. */
async function acceptedAtRest(service: ServerProcess): Promise<number> {
  for (;;) {
    const metrics = await readMetrics(service);
    if (metrics.get('tickseal_crypto_jobs_queued') === 0)
      return metrics.get('tickseal_updates_accepted_total')!;
    await pause(20);
  }
}
