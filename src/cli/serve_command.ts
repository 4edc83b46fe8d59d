import { type Command, Option } from 'commander';
import { type Logger, pino } from 'pino';
import type { DemoOptions } from './demo/serve_demo.js';
import { parsePublisher } from './option_forms.js';
import { parsePort } from './port_option.js';
import { exitOnFault, listenForStop, reloadOnSignal, start, untilStopped } from './service_process.js';
import { ownText, writeLine } from './shown_line.js';
import { startProblem } from './start_checks.js';

/** Adds `tickseal serve`. The exit status is 2 if the configuration is invalid, and 1 if the service cannot start. */
export function registerServe(program: Command): void {
  program
    .command('serve')
    .description('serve a configuration file, or without one a demo with simulated prices')
    .option('-c, --config <file>', 'the configuration file')
    .option('--data <folder>', "the demo's folder", './data')
    .option('--port <port>', "the demo's port; 0 picks a free one", parsePort, 8080)
    .option('--admin-port <port>', "the demo's admin port; 0 picks a free one", parsePort, 9090)
    .option(
      '--live [file]',
      'a demo with real prices of BTC, ETH, SOL, XRP, DOGE and USDT, or of a file of sources',
    )
    .option(
      '--publisher <key>',
      'a demo that also takes the prices of this publisher: the address or the Stark public key that keygen prints',
      parsePublisher,
    )
    .option('--take-over', 'take the data folder and the ports over from a service that runs on them')
    .addOption(new Option('--simulated', 'say that all prices are simulated').hideHelp())
    .action(async (options: ServeOptions) => {
      try {
        await serve(options);
      } catch (error) {
        writeLine(process.stderr, ownText(error instanceof Error ? error.message : String(error)));
        process.exitCode = 1;
      }
    });
}

interface ServeOptions extends DemoOptions {
  readonly config?: string;
  readonly takeOver?: boolean;
  readonly simulated?: boolean;
}

/**
 * Serves a configuration file, or without one the demo, until the process must stop.
 * @throws Error when the service cannot start
 */
async function serve(options: ServeOptions): Promise<void> {
  const problem = startProblem();
  if (problem !== undefined) throw new Error(problem);
  const logger = createLogger(process.env['TICKSEAL_LOG_LEVEL'] ?? (options.config ? 'info' : 'warn'));
  if (options.config === undefined) await (await import('./demo/serve_demo.js')).serveDemo(options, logger);
  else if (options.live !== undefined)
    throw new Error('--live is an option of the demo, which has no --config');
  else if (options.publisher !== undefined)
    throw new Error('--publisher is an option of the demo: list the publisher in the file of --config');
  else await serveFile(options.config, options, logger);
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
): Promise<void> {
  const stopSignal = listenForStop(logger);
  const starting = start(file, logger, { simulation: simulated, takeOver });
  reloadOnSignal(file, logger, starting);
  const service = await starting;
  if (service === undefined) return;
  exitOnFault(logger, service);
  const handedOver = service.askedToHandOver.then(() => logger.info('another process takes over'));
  await Promise.race([untilStopped(stopSignal), handedOver]);
  await service.stop();
}
