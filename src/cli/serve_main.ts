import { type Logger, pino } from 'pino';
import type { DemoOptions } from './demo/serve_demo.js';
import { exitOnFault, listenForStop, reloadOnSignal, start, stopped } from './service_process.js';
import { startProblem } from './start_checks.js';

// The program of `serve`. `serve_command.ts` loads the bundle of this module with its stored code.

/** The options of `serve`. */
export interface ServeOptions extends DemoOptions {
  readonly config?: string;
  readonly takeOver?: boolean;
  readonly simulated?: boolean;
}

/**
 * Serves a configuration file, or without one the demo, until the process must stop.
 * @param storeCode called when the service is ready, with the V8 flags that the process had at first
 * @throws Error when the service cannot start
 */
export async function serve(options: ServeOptions, storeCode: () => void): Promise<void> {
  const problem = startProblem();
  if (problem !== undefined) throw new Error(problem);
  const logger = createLogger(process.env['TICKSEAL_LOG_LEVEL'] ?? (options.config ? 'info' : 'warn'));
  if (options.config === undefined)
    await (await import('./demo/serve_demo.js')).serveDemo(options, logger, storeCode);
  else if (options.live !== undefined)
    throw new Error('--live is an option of the demo, which has no --config');
  else await serveFile(options.config, options, logger, storeCode);
}

/** Creates a logger that writes JSON lines to standard output. */
function createLogger(level: string): Logger {
  if (!LOG_LEVELS.includes(level))
    throw new RangeError(`TICKSEAL_LOG_LEVEL is none of ${LOG_LEVELS.join(', ')}`);
  return pino({ level });
}

const LOG_LEVELS = [...Object.values(pino.levels.labels), 'silent'];

async function serveFile(
  file: string,
  { takeOver = false, simulated = false }: ServeOptions,
  logger: Logger,
  storeCode: () => void,
): Promise<void> {
  const stopSignal = listenForStop(logger);
  const starting = start(file, logger, { simulation: simulated, takeOver, storeCode });
  reloadOnSignal(file, logger, starting);
  const service = await starting;
  if (service === undefined) return;
  exitOnFault(logger, service);
  const handedOver = service.askedToHandOver.then(() => logger.info('another process takes over'));
  await Promise.race([stopped(stopSignal), handedOver]);
  await service.stop();
}
