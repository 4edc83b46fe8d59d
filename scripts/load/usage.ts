import type { ServerProcess } from './server_process.js';

/** The resources that a part of a load run used. */
export interface Usage {
  readonly wallSeconds: number;
  readonly serverCpuSeconds: number;
  /** The CPU time of the server divided by wall time, in cores. The value is above 1 when several threads worked. */
  readonly serverShare: number;
  /** The share of the wall time in which threads of the server were ready to run but had no core. */
  readonly serverWaitShare: number;
  /** The CPU time of this process, the client, divided by wall time. With a value near 1, the client is the bottleneck. */
  readonly clientShare: number;
}

/**
 * Starts a measurement.
 * @returns a function that ends the measurement
 */
export function measureUsage(server: ServerProcess): () => Usage {
  const startMs = performance.now();
  const startClient = process.cpuUsage();
  const startServerSeconds = server.cpuSeconds();
  const startWaitSeconds = server.waitSeconds();
  return () => {
    const serverCpuSeconds = server.cpuSeconds() - startServerSeconds;
    const wallSeconds = (performance.now() - startMs) / 1000;
    const { user, system } = process.cpuUsage(startClient);
    return {
      wallSeconds,
      serverCpuSeconds,
      serverShare: serverCpuSeconds / wallSeconds,
      serverWaitShare: (server.waitSeconds() - startWaitSeconds) / wallSeconds,
      clientShare: (user + system) / 1e6 / wallSeconds,
    };
  };
}
