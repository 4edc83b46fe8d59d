import { once } from 'node:events';
import type { Logger } from 'pino';
import { systemClock } from '../clock/clock.js';
import type { Simulated } from '../model/asset.js';
import { ChangedIdsError } from '../service/known_ids.js';
import type { Service } from '../service/service.js';
import { describeStartError } from './port_in_use.js';
import { programCommit, programVersion } from './program_version.js';
import { ownText, writeLine } from './shown_line.js';
import { readConfigured, readForStart } from './start_checks.js';

// The process of a service from start to end. The command `serve` and the demo share these functions.

/**
 * Starts the service.
 * @returns `undefined` when the configuration is invalid; its errors are then already printed
 */
export async function start(
  file: string,
  logger: Logger,
  { simulation, takeOver }: { readonly simulation: Simulated; readonly takeOver: boolean },
): Promise<Service | undefined> {
  const configured = readForStart(file);
  if (!configured.ok) {
    writeLine(process.stderr, ownText(configured.errors.join('\n')));
    process.exitCode = 2;
    return undefined;
  }
  logWarnings(configured.warnings, logger);
  // An attacker who takes over a service that runs as root has all rights on the machine.
  if (!simulation && process.getuid?.() === 0)
    logger.warn('the service runs as root; a user of its own, with no rights but to its files, is safer');
  // The command loads the module here, because the module loads native add-ons.
  const { startService } = await import('../service/start.js');
  const { config, keys, natsCredentials } = configured;
  const service = await startService({
    config,
    keys,
    natsCredentials,
    clock: systemClock(),
    logger,
    env: process.env,
    simulation,
    takeOver,
    version: programVersion(),
    commit: programCommit(),
  }).catch(async (error) => {
    const names = simulation ? DEMO_PORTS : CONFIGURED_PORTS;
    throw new Error(await describeStartError(error, { adminPort: config.admin.port, names }), {
      cause: error,
    });
  });
  const { port, adminPort, evmAddress } = service;
  logger.info({ port, adminPort, evmAddress }, 'ready');
  return service;
}

/** The options of the demo's ports, and the keys of the addresses in a configuration file. */
const DEMO_PORTS = { service: { port: '--port' }, admin: { port: '--admin-port' } };
const CONFIGURED_PORTS = {
  service: { port: 'listen.port', host: 'listen.host' },
  admin: { port: 'admin.port', host: 'admin.host' },
};

function logWarnings(warnings: readonly string[], logger: Logger): void {
  for (const warning of warnings) logger.warn(`the configuration: ${warning}`);
}

/**
 * Reads the file again on `SIGHUP`. An invalid file changes nothing. The caller must call this function before the service reports
 * that it is ready, because a signal without a handler ends the process. A signal during the start takes effect after the start.
 */
export function reloadOnSignal(file: string, logger: Logger, starting: Promise<Service | undefined>): void {
  const started = starting.catch(() => undefined);
  process.on('SIGHUP', () => void started.then((service) => service && reloadConfig(file, logger, service)));
}

const NOT_VALID = 'the configuration is not valid; nothing was changed';

function reloadConfig(file: string, logger: Logger, service: Service): void {
  const configured = readConfigured(file);
  if (!configured.ok) {
    logger.error({ errors: configured.errors }, NOT_VALID);
    service.noteReload(false, configured.errors);
    return;
  }
  try {
    const sections = service.reload(configured.config, configured.keys);
    logWarnings(configured.warnings, logger);
    logger.info('the configuration was read again');
    const later = sections.length === 0 ? [] : [`takes effect at the next start: ${sections.join(', ')}`];
    service.noteReload(true, [...configured.warnings, ...later]);
  } catch (error) {
    if (error instanceof ChangedIdsError) {
      const errors = configured.describe(error.problems);
      logger.error({ errors }, NOT_VALID);
      service.noteReload(false, errors);
    } else {
      logger.error({ err: error }, 'the configuration could not be put in force; nothing was changed');
      service.noteReload(false, [(error as Error).message]);
    }
  }
}

/**
 * Ends the process with status 1 after an uncaught exception, because the state of the process may be corrupt. The threads end
 * first, because Node aborts a process that exits while its threads have connections.
 */
export function exitOnFault(logger: Logger, service: Service): void {
  let isEnding = false;
  process.on('uncaughtException', (error) => {
    // Ending after the first exception may cause a second exception, which the handler ignores.
    if (isEnding) return;
    isEnding = true;
    logger.fatal({ err: error }, 'the service ends: an exception that nothing caught');
    global.setTimeout(() => process.kill(process.pid, 'SIGKILL'), FAULT_EXIT_MS_MAX);
    void service.abandon().finally(() => process.exit(1));
  });
}

/** The time limit for the threads to end. After this time the process kills itself. */
const FAULT_EXIT_MS_MAX = 5_000;

/**
 * Makes `SIGTERM`, `SIGINT` and the signals in `others` request a clean stop from now on, even while the service is still
 * starting.
 */
export function listenForStop(logger: Logger, others: readonly NodeJS.Signals[] = []): AbortSignal {
  const controller = new AbortController();
  const onSignal = (signal: string) => {
    logger.info({ signal }, 'stopping');
    controller.abort();
  };
  for (const signal of ['SIGTERM', 'SIGINT', ...others]) process.once(signal, onSignal);
  return controller.signal;
}

export async function untilStopped(stopSignal: AbortSignal): Promise<void> {
  if (!stopSignal.aborted) await once(stopSignal, 'abort');
}
