import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type Logger, pino } from 'pino';
import { systemClock } from '../clock/clock.js';
import type { Simulated } from '../model/asset.js';
import type { Service } from '../service/service.js';
import { renderDemoBanner } from './demo/banner.js';
import { type LiveMarkets, liveMarkets, REACH_MS_MAX, reachMarkets } from './demo/live_markets.js';
import { startLivePublisher } from './demo/live_publisher.js';
import { writePastCandles } from './demo/past_candles.js';
import { prepareDemo } from './demo/prepare.js';
import { startSimulation } from './demo/simulation.js';
import { describeStartError } from './port_in_use.js';
import { programCommit, programVersion } from './program_version.js';
import { Progress } from './progress_line.js';
import { readConfigured, readForStart, startProblem } from './start_checks.js';
import { compileSooner, makeObjectsYoung } from './v8_settings.js';

interface ServeOptions {
  readonly config?: string;
  readonly data: string;
  readonly port: number;
  readonly adminPort: number;
  readonly takeOver?: boolean;
  readonly simulated?: boolean;
  /** The path of a file of sources, or `true` for the demo's own file. */
  readonly live?: string | true;
}

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
    .option('--take-over', 'take the data folder and the ports over from a service that runs on them')
    .addOption(new Option('--simulated', 'say that all prices are simulated').hideHelp())
    .action(async (options: ServeOptions) => {
      try {
        const problem = startProblem();
        if (problem !== undefined) throw new Error(problem);
        const logger = createLogger(process.env['TICKSEAL_LOG_LEVEL'] ?? (options.config ? 'info' : 'warn'));
        if (options.config === undefined) await serveDemo(options, logger);
        else if (options.live !== undefined)
          throw new Error('--live is an option of the demo, which has no --config');
        else await serve(options.config, options, logger);
      } catch (error) {
        process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
        process.exitCode = 1;
      }
    });
}

/** Creates a logger that writes JSON lines to standard output. */
function createLogger(level: string): Logger {
  if (!LOG_LEVELS.includes(level))
    throw new RangeError(`TICKSEAL_LOG_LEVEL is none of ${LOG_LEVELS.join(', ')}`);
  return pino({ level });
}

const LOG_LEVELS = [...Object.values(pino.levels.labels), 'silent'];

async function serve(
  file: string,
  { takeOver = false, simulated = false }: ServeOptions,
  logger: Logger,
): Promise<void> {
  const stopSignal = listenForStop(logger);
  const service = await start(file, logger, { simulation: simulated, takeOver });
  if (service === undefined) return;
  exitOnFault(logger, service);
  reloadOnSignal(file, logger, service);
  const handedOver = service.askedToHandOver.then(() => logger.info('another process takes over'));
  await Promise.race([stopped(stopSignal), handedOver]);
  await service.stop();
}

async function serveDemo({ data, port, adminPort, live }: ServeOptions, logger: Logger): Promise<void> {
  // With a terminal, SIGHUP stops the demo, because otherwise the publishers would continue after the terminal is closed.
  // Without a terminal, SIGHUP requests a reload, as it does for other services.
  const hasTerminal = process.stdin.isTTY || process.stdout.isTTY;
  const stopSignal = listenForStop(logger, hasTerminal ? ['SIGHUP'] : []);
  const markets = live === undefined ? undefined : await reachedMarkets(data, live, stopSignal);
  if (stopSignal.aborted) return;
  const demo = prepareDemo(data, { port, adminPort }, markets?.symbols);
  await writePastCandles({
    storageDir: demo.storageDir,
    assets: demo.simulatedAssets,
    clock: systemClock(),
  });
  const service = await start(demo.configFile, logger, { simulation: demo.simulation, takeOver: false });
  if (service === undefined) return;
  exitOnFault(logger, service);
  const url = `ws://127.0.0.1:${service.port}`;
  const { stderr } = process;
  const publisher =
    markets && (await startLivePublisher({ file: markets.file, url, secrets: demo.markets!, stderr }));
  const simulation = startSimulation({
    dataDir: data,
    url,
    except: markets?.symbols ?? [],
    onExit: (code) => logger.error({ code }, 'the simulated publishers have ended'),
  });
  const banner = renderDemoBanner({
    ...demo,
    markets,
    url: `http://127.0.0.1:${service.port}`,
    adminUrl: `http://127.0.0.1:${service.adminPort}`,
    // The demo has keys of both types.
    evmAddress: service.evmAddress!,
    starkPublicKey: service.starkPublicKey!,
  });
  if (!hasTerminal) reloadOnSignal(demo.configFile, logger, service);
  await untilLive(service, stopSignal);
  if (!stopSignal.aborted) process.stdout.write(banner);
  await stopped(stopSignal);
  await Promise.all([simulation.stop(), publisher?.stop()]);
  await service.stop();
}

/**
 * Returns the markets of real prices. If no market has a price, prints the reason and returns `undefined`; the demo then
 * simulates all prices.
 */
async function reachedMarkets(
  dataDir: string,
  live: string | true,
  stopSignal: AbortSignal,
): Promise<LiveMarkets | undefined> {
  const markets = liveMarkets(dataDir, live === true ? undefined : live);
  process.stdout.write(
    `asking ${markets.sources.join(', ')} for prices, for at most ${REACH_MS_MAX / 1000} s\n`,
  );
  const reached = await reachMarkets(markets, stopSignal);
  if (reached.ok) return markets;
  if (!stopSignal.aborted) process.stdout.write(`${noRealPrices(reached.report)}\n`);
  return undefined;
}

function noRealPrices([reason, ...tried]: readonly string[]): string {
  return `\nNo exchange was reached: ${reason}. Tried:\n${tried.join('\n')}\nAll prices are simulated. Another start with --live asks again.`;
}

/**
 * Waits for prices, because the printed commands should show prices at once. If the publishers fail, the demo prints the lines
 * anyway.
 */
async function untilLive(service: Service, stopSignal: AbortSignal): Promise<void> {
  const endMs = Date.now() + LIVE_MS_MAX;
  while (service.staleAssets() > 0 && Date.now() < endMs && !stopSignal.aborted)
    await setTimeout(LIVE_POLL_MS);
}

const LIVE_MS_MAX = 5_000;
const LIVE_POLL_MS = 50;

/**
 * Starts the service.
 * @returns `undefined` when the configuration is invalid; its errors are then already printed
 */
async function start(
  file: string,
  logger: Logger,
  { simulation, takeOver }: { readonly simulation: Simulated; readonly takeOver: boolean },
): Promise<Service | undefined> {
  const configured = readForStart(file);
  if (!configured.ok) {
    process.stderr.write(`${configured.errors.join('\n')}\n`);
    process.exitCode = 2;
    return undefined;
  }
  logWarnings(configured.warnings, logger);
  // If the service runs as root, an attacker who takes over the process has all rights on the machine.
  if (!simulation && process.getuid?.() === 0)
    logger.warn('the service runs as root; a user of its own, with no rights but to its files, is safer');
  makeObjectsYoung();
  // The command loads the module here, because the module loads native add-ons.
  const { startService } = await import('../service/start.js');
  const { config, keys, natsCredentials } = configured;
  const progress = new Progress(process.stderr);
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
    onProgress: (...step) => progress.update(...step),
  })
    .catch(async (error) => {
      const names = simulation ? DEMO_PORTS : CONFIGURED_PORTS;
      throw new Error(await describeStartError(error, { adminPort: config.admin.port, names }), {
        cause: error,
      });
    })
    .finally(() => progress.clear());
  compileSooner();
  const { port, adminPort, evmAddress } = service;
  logger.info({ port, adminPort, evmAddress }, 'ready');
  return service;
}

/** The options of the demo's ports, and the keys of the ports in a configuration file. */
const DEMO_PORTS = { port: '--port', adminPort: '--admin-port' };
const CONFIGURED_PORTS = { port: 'listen.port', adminPort: 'admin.port' };

function logWarnings(warnings: readonly string[], logger: Logger): void {
  for (const warning of warnings) logger.warn(`the configuration: ${warning}`);
}

/** Reads the file again on `SIGHUP`. An invalid file changes nothing. */
function reloadOnSignal(file: string, logger: Logger, service: Service): void {
  process.on('SIGHUP', () => {
    const configured = readConfigured(file);
    if (!configured.ok) {
      logger.error({ errors: configured.errors }, 'the configuration is not valid; nothing was changed');
      service.noteInvalidReload();
      return;
    }
    try {
      service.reload(configured.config, configured.keys);
      logWarnings(configured.warnings, logger);
      logger.info('the configuration was read again');
    } catch (error) {
      logger.error({ err: error }, 'the configuration could not be put in force; nothing was changed');
    }
  });
}

/**
 * Ends the process with status 1 after an uncaught exception, because the state of the process may be corrupt. The threads end
 * first: Node aborts a process that exits while its threads have connections.
 */
function exitOnFault(logger: Logger, service: Service): void {
  let isEnding = false;
  process.on('uncaughtException', (error) => {
    // The first exception causes the second exception during the end, so the handler ignores the second.
    if (isEnding) return;
    isEnding = true;
    logger.fatal({ err: error }, 'the service ends: an exception that nothing caught');
    global.setTimeout(() => process.kill(process.pid, 'SIGKILL'), FAULT_EXIT_MS_MAX);
    void service.abandon().finally(() => process.exit(1));
  });
}

/** The time limit of the end of the threads. After this time the process kills itself. */
const FAULT_EXIT_MS_MAX = 5_000;

/**
 * Makes `SIGTERM`, `SIGINT` and the signals in `others` request a clean stop from now on, even while the service is still
 * starting.
 */
function listenForStop(logger: Logger, others: readonly NodeJS.Signals[] = []): AbortSignal {
  const controller = new AbortController();
  const onSignal = (signal: string) => {
    logger.info({ signal }, 'stopping');
    controller.abort();
  };
  for (const signal of ['SIGTERM', 'SIGINT', ...others]) process.once(signal, onSignal);
  return controller.signal;
}

async function stopped(stopSignal: AbortSignal): Promise<void> {
  if (!stopSignal.aborted) await once(stopSignal, 'abort');
}

export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('expected a port, 0 to 65535');
  return port;
}
