import { availableParallelism } from 'node:os';
import { usesStark } from '../config/stark_use.js';
import { StartingPort } from '../server/uws/early_listener.js';
import { UWS_SHA256_VARIABLE } from '../server/uws/machine.js';
import { loadWebSockets } from '../server/uws/native.js';
import { loadThread } from './edge/threads/loaded_thread.js';
import { planThreads } from './edge/threads/thread_plan.js';
import { openService, type Service } from './service.js';
import type { ServiceOptions } from './service_options.js';

/** Starts a service. Resolves when the service serves. @throws Error whose message is one sentence when the start fails */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, env, takeOver = false } = options;
  const allowedSha256 = env[UWS_SHA256_VARIABLE];
  const webSockets = loadWebSockets(allowedSha256);
  const port = await StartingPort.claim(webSockets, config.listen, takeOver);
  const threads = planThreads(config.listen.threads, availableParallelism());
  const ofEdges = threads.listen === 1 ? 0 : threads.listen;
  const loaded = Array.from({ length: ofEdges }, () => loadThread(allowedSha256, usesStark(config)));
  try {
    return await openService({ port, webSockets, threads, loaded }, options);
  } catch (error) {
    await Promise.all(loaded.map(({ worker }) => worker.terminate()));
    throw error;
  } finally {
    port.close();
  }
}
