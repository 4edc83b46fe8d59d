import { type ServerProcess, startService } from '../load/server_process.js';

/** What can be asked of a service that was started with the probe, and what comes back. */
export interface ProbeAnswers {
  /** Bytes on JavaScript's heap and beside it, after a collection. */
  readonly heap: number;
  /** The next thread that is given signatures to verify ends instead. Answered with how many have so far. */
  readonly killThread: number;
  /** How many have ended so. */
  readonly deaths: number;
  /** One of the threads that serve sockets goes into a loop without an end. Answered with how many still have to. */
  readonly hangServer: number;
}

/** A service with `probe.ts` in all its threads, which answers what no door of the service does. */
export interface ProbedService extends ServerProcess {
  probe<Q extends keyof ProbeAnswers>(question: Q): Promise<ProbeAnswers[Q]>;
}

export async function startProbedService(configFile: string): Promise<ProbedService> {
  const nodeOptions = `--import ${new URL('./probe.js', import.meta.url).href}`;
  const service = await startService(configFile, { nodeOptions, probed: true });
  return {
    ...service,
    probe: async <Q extends keyof ProbeAnswers>(question: Q) =>
      (await service.ask(question)) as ProbeAnswers[Q],
  };
}
