import { type ServerProcess, startService } from '../load/server_process.js';

/** The answers of the probe in a service, by request. */
export interface ProbeAnswers {
  /** The bytes in the main thread's heap and external memory, after a garbage collection. */
  readonly heap: number;
  /** The number of threads that have not thrown an exception yet. The request makes one more serving thread throw an exception. */
  readonly crashServer: number;
}

/** A service with `probe.ts` in all its threads, for data that the service's endpoints do not offer. */
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
