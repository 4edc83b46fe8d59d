import { startPricedService } from '../../scripts/load/priced_service.js';
import type { ServerProcess } from '../../scripts/load/server_process.js';
import { openStreams, type Streams, type StreamsOptions } from '../../scripts/load/streams.js';
import { measureUsage, type Usage } from '../../scripts/load/usage.js';
import { pause } from '../../scripts/load/wait.js';

/** The frames that all readers received, and the cost of these frames. */
export interface FrameUsage extends Usage {
  readonly frames: number;
  readonly framesPerCpuSecond: number;
}

export type Readers = Omit<StreamsOptions, 'port'>;

export interface FrameTimes {
  /** The time before the measurement, in which V8 compiles the code of a tick. */
  readonly settleMs: number;
  readonly measureMs: number;
}

/** Opens readers of a server, and measures the frames that they receive. */
export async function measureFrames(
  server: ServerProcess,
  readers: Readers,
  { settleMs, measureMs }: FrameTimes,
): Promise<FrameUsage> {
  const streams = await openStreams({ port: server.port, ...readers });
  await pause(settleMs);
  const end = countFrames(server, streams);
  await pause(measureMs);
  const usage = end();
  if (streams.closed > 0) throw new Error(`${streams.closed} connections were closed`);
  streams.close();
  return usage;
}

/** Measures the frames of readers of a new service, in which each asset has a price. */
export async function measurePricedFrames(
  load: Parameters<typeof startPricedService>[0],
  readers: Readers,
  times: FrameTimes,
): Promise<FrameUsage> {
  const { service } = await startPricedService({ clockPeriod: '60s', ...load });
  const usage = await measureFrames(service, readers, times);
  await service.stop();
  return usage;
}

/**
 * Starts a measurement.
 * @returns a function that ends the measurement
 */
export function countFrames(server: ServerProcess, streams: Streams): () => FrameUsage {
  const framesBefore = streams.frames;
  const end = measureUsage(server);
  return () => {
    const frames = streams.frames - framesBefore;
    const usage = end();
    return { ...usage, frames, framesPerCpuSecond: frames / usage.serverCpuSeconds };
  };
}

/** Returns the first assets. */
export function firstAssets(count: number): number[] {
  return Array.from({ length: count }, (_, asset) => asset);
}
