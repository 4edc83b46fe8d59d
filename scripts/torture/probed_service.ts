import { type ServerProcess, startService } from '../load/server_process.js';

/** The answers of the probe in a service, by request. */
export interface ProbeAnswers {
  /** The bytes in the main thread's heap and external memory, after a garbage collection. */
  readonly heap: number;
  /** The number of exits so far. The request makes the next crypto thread that verifies or signs exit. */
  readonly killThread: number;
  /** The number of threads that have exited because of `killThread`. */
  readonly exits: number;
  /**
   * The number of threads that have not entered an endless loop yet. The request makes one more serving thread enter an endless loop.
   */
  readonly hangServer: number;
  /** The number of threads that have not thrown an exception yet. The request makes one more serving thread throw an exception. */
  readonly crashServer: number;
}

/** A service with `probe.ts` in all its threads, for data that the service's endpoints do not offer. */
export interface ProbedService extends ServerProcess {
  probe<Q extends keyof ProbeAnswers>(question: Q): Promise<ProbeAnswers[Q]>;
}

export async function startProbedService(configFile: string): Promise<ProbedService> {
  const nodeOptions = `--import ${new URL('./probe.js', import.meta.url).href}`;
  // The probe ends threads inside functions of the npm package, so the service must not use the system's library instead.
  const env = { TICKSEAL_SECP256K1_LIBRARY: 'none' };
  const service = await startService(configFile, { nodeOptions, env, probed: true });
  return {
    ...service,
    probe: async <Q extends keyof ProbeAnswers>(question: Q) =>
      (await service.ask(question)) as ProbeAnswers[Q],
  };
}
