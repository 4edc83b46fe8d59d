import { setTimeout } from 'node:timers/promises';
import type { Logger } from 'pino';
import { systemClock } from '../../clock/clock.js';
import type { Service } from '../../service/service.js';
import { bySignatureType } from '../../wire/signatures.js';
import type { NamedPublisher } from '../option_forms.js';
import { exitOnFault, listenForStop, reloadOnSignal, start, untilStopped } from '../service_process.js';
import { ownText, writeLine } from '../shown_line.js';
import { renderDemoBanner } from './banner.js';
import { type LiveMarkets, liveMarkets, REACH_MS_MAX, reachMarkets } from './live_markets.js';
import { startLivePublisher } from './live_publisher.js';
import { writePastCandles } from './past_candles.js';
import { prepareDemo } from './prepare.js';
import { startSimulation } from './simulation.js';

/** The options of the demo. */
export interface DemoOptions {
  readonly data: string;
  readonly port: number;
  readonly adminPort: number;
  /** The path of a file of sources, or `true` for the demo's own file. */
  readonly live?: string | true;
  /** A publisher beside those of the demo. */
  readonly publisher?: NamedPublisher;
}

/** Serves the demo, with its publishers, until the process must stop. */
export async function serveDemo(
  { data, port, adminPort, live, publisher: own }: DemoOptions,
  logger: Logger,
): Promise<void> {
  // On a terminal, SIGHUP stops the demo; otherwise the publishers would continue after the terminal closes. Without a terminal,
  // SIGHUP requests a reload, as for other services.
  const hasTerminal = process.stdin.isTTY || process.stdout.isTTY;
  const stopSignal = listenForStop(logger, hasTerminal ? ['SIGHUP'] : []);
  const markets = live === undefined ? undefined : await reachedMarkets(data, live, stopSignal);
  if (stopSignal.aborted) return;
  const demo = prepareDemo(data, { port, adminPort }, { realSymbols: markets?.symbols, own });
  await writePastCandles({
    storageDir: demo.storageDir,
    assets: demo.simulatedAssets,
    clock: systemClock(),
  });
  const starting = start(demo.configFile, logger, {
    simulation: demo.simulation,
    takeOver: false,
  });
  if (!hasTerminal) reloadOnSignal(demo.configFile, logger, starting);
  const service = await starting;
  if (service === undefined) return;
  exitOnFault(logger, service);
  const url = `ws://127.0.0.1:${service.port}`;
  const { stderr } = process;
  const publisher =
    markets && startLivePublisher({ file: markets.file, url, secrets: demo.markets!, stderr });
  const simulation = startSimulation({
    dataDir: data,
    urls: [url],
    except: markets?.symbols ?? [],
    onExit: (code) => logger.error({ code }, 'the simulated publishers have ended'),
  });
  const banner = renderDemoBanner({
    ...demo,
    markets,
    own,
    url: `http://127.0.0.1:${service.port}`,
    adminUrl: `http://127.0.0.1:${service.adminPort}`,
    // The demo has keys of all types.
    signers: bySignatureType((type) => service.signerOf(type)!),
  });
  await untilLive(service, stopSignal);
  if (!stopSignal.aborted) writeLine(process.stdout, ownText(banner));
  await untilStopped(stopSignal);
  await Promise.all([simulation.stop(), publisher?.stop()]);
  await service.stop();
}

/**
 * Returns the markets that have real prices. If no market has a price, prints the reason and returns `undefined`; the demo then
 * simulates all prices.
 */
async function reachedMarkets(
  dataDir: string,
  live: string | true,
  stopSignal: AbortSignal,
): Promise<LiveMarkets | undefined> {
  const markets = liveMarkets(dataDir, live === true ? undefined : live);
  writeLine(
    process.stdout,
    ownText(`asking ${markets.sources.join(', ')} for prices, for at most ${REACH_MS_MAX / 1000} s`),
  );
  const reached = await reachMarkets(markets, stopSignal);
  if (reached.ok) return markets;
  if (!stopSignal.aborted) writeLine(process.stdout, ownText(noRealPrices(reached.report)));
  return undefined;
}

function noRealPrices([reason, ...tried]: readonly string[]): string {
  return `\nNo exchange was reached: ${reason}. Tried:\n${tried.join('\n')}\nAll prices are simulated. Another start with --live asks again.`;
}

/**
 * Waits for prices, because the printed commands should show prices immediately. If the publishers fail, the demo prints the
 * commands anyway.
 */
async function untilLive(service: Service, stopSignal: AbortSignal): Promise<void> {
  const endMs = Date.now() + LIVE_MS_MAX;
  while (service.staleAssets() > 0 && Date.now() < endMs && !stopSignal.aborted)
    await setTimeout(LIVE_POLL_MS);
}

const LIVE_MS_MAX = 5_000;
const LIVE_POLL_MS = 50;
