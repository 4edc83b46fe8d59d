import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isRecord } from '../adapters/market.js';

// The part of ccxt that sources of kind `ccxt` use. The package is not a dependency; users install it when they want it.

/** A side of a book: levels of price and size, the best level first. */
type Levels = readonly (readonly (number | undefined)[])[];

export interface CcxtBook {
  readonly bids: Levels;
  readonly asks: Levels;
  /** UNIX milliseconds. */
  readonly timestamp?: number | undefined;
}

export interface CcxtTicker {
  readonly bid?: number | undefined;
  readonly ask?: number | undefined;
  readonly last?: number | undefined;
  readonly timestamp?: number | undefined;
}

/** An instance of an exchange with its own sockets. `has` names the methods that the exchange supports. */
export interface CcxtExchange {
  readonly has: Readonly<Record<string, unknown>>;
  readonly markets?: unknown;
  readonly currencies?: unknown;
  loadMarkets(
    reload?: boolean,
  ): Promise<Readonly<Record<string, { readonly symbol: string; readonly active?: boolean }>>>;
  setMarkets(markets: unknown, currencies?: unknown): unknown;
  watchOrderBook(symbol: string): Promise<CcxtBook>;
  unWatchOrderBook(symbol: string): Promise<unknown>;
  watchTicker(symbol: string): Promise<CcxtTicker>;
  unWatchTicker(symbol: string): Promise<unknown>;
  fetchOrderBook(symbol: string): Promise<CcxtBook>;
  fetchTicker(symbol: string): Promise<CcxtTicker>;
  close?(): Promise<unknown>;
}

type CcxtClass = new (options: object) => CcxtExchange;

/** The package, with the exchanges by name. */
export interface CcxtLibrary {
  /** The names of all exchanges. */
  readonly exchanges: readonly string[];
  /** Creates an instance of an exchange, with sockets if ccxt has them for this exchange. */
  create(exchange: string): CcxtExchange;
}

/** The time after which a request of ccxt fails. */
const ANSWER_MS_MAX = 10_000;

/**
 * Loads ccxt from the packages of a folder, or from those of this program.
 * @throws Error with the command that installs it
 */
export async function loadCcxt(folder: string): Promise<CcxtLibrary> {
  const file = installedAt(folder);
  if (file === undefined)
    throw new Error(`ccxt is not installed; run "npm install ccxt" in ${folder}, or beside this program`);
  let loaded: unknown;
  try {
    loaded = await import(pathToFileURL(file).href);
  } catch (error) {
    throw new Error(`ccxt cannot be loaded: ${String((error as Error).message).split('\n')[0]}`);
  }
  const library = isRecord(loaded) && isRecord(loaded['default']) ? loaded['default'] : loaded;
  const { exchanges, pro } = (library ?? {}) as { exchanges?: unknown; pro?: unknown };
  if (!Array.isArray(exchanges)) throw new Error('the installed package ccxt names no exchanges');
  return {
    exchanges: exchanges.filter((name) => typeof name === 'string'),
    create: (exchange) => {
      const withSockets = (pro ?? {}) as Readonly<Record<string, CcxtClass>>;
      const all = library as Readonly<Record<string, CcxtClass>>;
      const Exchange = Object.hasOwn(withSockets, exchange) ? withSockets[exchange]! : all[exchange]!;
      return new Exchange({ enableRateLimit: true, timeout: ANSWER_MS_MAX });
    },
  };
}

function installedAt(folder: string): string | undefined {
  for (const from of [join(folder, 'sources.yaml'), import.meta.url])
    try {
      return createRequire(from).resolve('ccxt');
    } catch {
      // The next folder may have the package.
    }
  return undefined;
}
