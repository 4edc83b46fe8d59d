import { NODE } from '../../client/connect/node_platform.js';
import type { Down } from '../../client/connect/reconnecting_socket.js';
import { createPriceSigner } from '../../client/node.js';
import { Publisher } from '../../client/prices/publisher.js';
import { type PriceSigner, parseSecretKey } from '../../client/sign/sign_price.js';
import { systemClock } from '../../clock/clock.js';
import { createCalendars } from '../../model/calendar/calendars.js';
import { type Clock, secondOf } from '../../model/time.js';
import { MARKET_CLOSED } from '../../wire/market_status_codes.js';
import { DEFAULT_SIGNATURE_TYPE, SIGNATURE_TYPES } from '../../wire/signatures.js';
import { reasonText, shown, writeLine } from '../shown_line.js';
import { SIMULATION_ORACLE_ID } from './config_text.js';
import { DEMO_CATALOGUE, DEMO_PACE, type DemoAsset } from './demo_catalogue.js';
import { type DemoSecrets, readDemoSecrets } from './secrets.js';
import { createAssetWalk, type PriceWalk } from './walk.js';

/**
 * Runs the process of the simulated publishers: `publishers.js DATA_DIR URL[,URL…] [SYMBOL…]`. Each publisher is an ordinary client with
 * its own key and connection. The publishers skip the EVM assets with the named symbols. The process ends when its parent ends, or
 * on SIGTERM or SIGINT.
 */
function main([dataDir, urls, ...except]: string[]): void {
  if (dataDir === undefined || urls === undefined)
    throw new TypeError('usage: publishers.js DATA_DIR URL[,URL…] [SYMBOL…]');
  const simulation = new Simulation(readDemoSecrets(dataDir), urls.split(','), except, systemClock());
  const stop = () => {
    simulation.stop();
    if (process.connected) process.disconnect();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, stop);
  process.once('disconnect', stop);
  // The parent may have ended before this listener existed, while this program was loading.
  if (!process.connected) stop();
}

/**
 * The number of waiting bytes above which a publisher skips messages on a connection. A skipped message is no loss, because newer
 * prices follow.
 */
const BUFFERED_BYTES_MAX = 256 * 1024;
/** The HTTP status with which a service answers while it starts. */
const STARTING_STATUS = 503;
/** The time limit for the service to complete the closing handshake. */
const CLOSE_DELAY_MS_MAX = 1_000;

interface SimulatedPublisher {
  readonly connection: Publisher;
  readonly signer: PriceSigner;
  readonly venue: string;
  readonly shares: readonly (readonly SimulatedAsset[])[];
  messages: number;
}

interface SimulatedAsset {
  readonly symbol: string;
  readonly calendar: string;
  readonly walk: PriceWalk;
  /** The newest price, which stays while the market is closed. */
  price: bigint | undefined;
}

class Simulation {
  readonly #clock: Clock;
  readonly #calendars = createCalendars({}).calendars;
  readonly #publishers: SimulatedPublisher[] = [];
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(secrets: DemoSecrets, urls: readonly string[], except: readonly string[], clock: Clock) {
    this.#clock = clock;
    for (const signatureType of SIGNATURE_TYPES) {
      const assets = DEMO_CATALOGUE.filter(
        (asset) =>
          asset.signatureType === signatureType &&
          (signatureType !== DEFAULT_SIGNATURE_TYPE || !except.includes(asset.symbol)),
      ).map(simulatedAsset);
      const keys = secrets.publisherKeys[signatureType];
      keys.forEach((key, i) => {
        const secretKey = parseSecretKey(key)!;
        const publisher = {
          connection: new Publisher({
            url: urls[i % urls.length]!,
            token: secrets.publisherToken,
            signatureType,
            openSocket: NODE.openSocket,
            onDown,
          }),
          signer: createPriceSigner({ signatureType, secretKey, oracleId: SIMULATION_ORACLE_ID }),
          venue: `simulated-${signatureType}-${i + 1}`,
          shares: splitIntoShares(assets, DEMO_PACE[signatureType].shares),
          messages: i,
        };
        this.#publishers.push(publisher);
        this.#start(publisher, DEMO_PACE[signatureType].intervalMs, i / keys.length);
      });
    }
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    setTimeout(() => process.exit(), CLOSE_DELAY_MS_MAX);
    void Promise.all(this.#publishers.map(({ connection }) => connection.close())).then(() => process.exit());
  }

  /**
   * Publishes all assets when the connection opens, and then one share of the assets per message. A `phase` from 0 to 1 shifts a
   * publisher's messages in time.
   */
  #start(publisher: SimulatedPublisher, intervalMs: number, phase: number): void {
    publisher.connection.opened().then(
      () => this.#publish(publisher, publisher.shares.flat()),
      () => {},
    );
    const start = () => this.#timers.push(setInterval(() => this.#publishNext(publisher), intervalMs));
    this.#timers.push(setTimeout(start, intervalMs * phase));
  }

  #publishNext(publisher: SimulatedPublisher): void {
    if (publisher.connection.bufferedBytes > BUFFERED_BYTES_MAX) return;
    publisher.messages += 1;
    const share = publisher.shares[publisher.messages % publisher.shares.length]!;
    this.#publish(publisher, share);
  }

  /** Moves the price of an asset whose market is open. */
  #priceOf(asset: SimulatedAsset): bigint {
    const second = Number(secondOf(this.#clock.nowNs()));
    const status = this.#calendars.get(asset.calendar)?.stateAt(second).status;
    if (status !== MARKET_CLOSED || asset.price === undefined) {
      asset.walk.step();
      asset.price = asset.walk.quote();
    }
    return asset.price;
  }

  #publish({ connection, signer, venue }: SimulatedPublisher, assets: readonly SimulatedAsset[]): void {
    const metadata = { simulation: true, venue };
    const updates = assets.map((asset) =>
      signer.sign({
        symbol: asset.symbol,
        price: this.#priceOf(asset),
        timestampNs: this.#clock.nowNs(),
        trigger: 'clock',
        metadata,
      }),
    );
    // Without a connection the message is lost. The next message carries newer prices.
    void connection.publish(updates);
  }
}

function simulatedAsset(asset: DemoAsset): SimulatedAsset {
  const seed = (asset.id * 0x9e3779b1) ^ Date.now();
  const { symbol, calendar } = asset;
  return { symbol, calendar, walk: createAssetWalk(asset, seed), price: undefined };
}

function splitIntoShares<T>(items: readonly T[], shares: number): T[][] {
  return Array.from({ length: shares }, (_, share) => items.filter((_, i) => i % shares === share));
}

function onDown({ reason, httpStatus }: Down): void {
  if (httpStatus !== undefined && httpStatus !== STARTING_STATUS)
    writeLine(process.stderr, shown`simulated publisher: ${reasonText(reason)}`);
}

main(process.argv.slice(2));
