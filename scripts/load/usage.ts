import type { ServerProcess } from './server_process.js';

/** What a stretch of a load run cost. */
export interface Usage {
  readonly wallSeconds: number;
  readonly serverCpuSeconds: number;
  /** Of the server, in cores: above 1 when several threads worked. */
  readonly serverShare: number;
  /** Of the wall time, how long threads of the server were ready to run and had no core: the work of others. */
  readonly serverWaitShare: number;
  /** Of this process, the client. Near 1 it would be the bottleneck. */
  readonly clientShare: number;
}

/** Begins a stretch; the function that it returns ends it. */
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
