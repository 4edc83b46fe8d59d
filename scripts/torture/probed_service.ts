import { type ServerProcess, startService } from '../load/server_process.js';

/** The questions that the probe in a service answers, and the answers. */
export interface ProbeAnswers {
  /** Bytes of the main thread's heap and of its external memory, after a garbage collection. */
  readonly heap: number;
  /** The next crypto thread that receives signatures to verify exits instead. The answer is the number of exits so far. */
  readonly killThread: number;
  /** The number of threads that have exited this way. */
  readonly exits: number;
  /** A serving thread enters an endless loop. The answer is the number of threads that have still to enter one. */
  readonly hangServer: number;
  /** A serving thread throws an exception. The answer is the number of threads that have still to do so. */
  readonly crashServer: number;
}

/** A service with `probe.ts` in all its threads, for data that its endpoints do not offer. */
export interface ProbedService extends ServerProcess {
  probe<Q extends keyof ProbeAnswers>(question: Q): Promise<ProbeAnswers[Q]>;
}

export async function startProbedService(configFile: string): Promise<ProbedService> {
  const nodeOptions = `--import ${new URL('./probe.js', import.meta.url).href}`;
  // The probe ends threads in functions of the package; a library of the machine would replace those functions.
  const env = { TICKSEAL_SECP256K1_LIBRARY: 'none' };
  const service = await startService(configFile, { nodeOptions, env, probed: true });
  return {
    ...service,
    probe: async <Q extends keyof ProbeAnswers>(question: Q) =>
      (await service.ask(question)) as ProbeAnswers[Q],
  };
}
