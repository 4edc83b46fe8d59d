import { isIdName, ONLY_SYMBOLS } from '../../wire/asset_id.js';
import { isRateLimited, RefusedError, type TicksealError } from '../connect/errors.js';
import type { Platform } from '../connect/platform.js';
import type { RestService } from '../connect/rest_service.js';
import type { Payload } from '../verify/decode_payload.js';
import { fetchTaxonomy, idsBySymbol, type StreamedType, type Taxonomy } from './taxonomy.js';

/** The interval at which the taxonomy is read again. */
const REFRESH_INTERVAL_MS = 10_000;
/** The shortest time between two reads. */
const RETRY_DELAY_MS = 1_000;
/**
 * The largest number of consecutive reads that the client ignores because an ID in use has another meaning in the table. Usually the
 * connection reports such a change after fewer reads.
 */
const LEFT_ASIDE_MAX = 6;

export interface SymbolTableEvents {
  /** Called after each read of the table, even if nothing changed. */
  readonly onRead: (taxonomy: Taxonomy) => void;
  readonly onError: (error: TicksealError) => void;
  /** Called when the service refuses the table. No further attempt follows. */
  readonly onRefused: (error: TicksealError) => void;
}

/**
 * @throws TypeError unless `symbols` is a list of texts. A single text is refused because it would count as a list of its
 * letters.
 * @throws RangeError for a streaming ID
 */
export function requireSymbols(symbols: readonly string[]): void {
  if (!Array.isArray(symbols)) throw new TypeError('symbols must be a list of symbols');
  for (const symbol of symbols) requireSymbol(symbol);
}

/**
 * @throws TypeError unless `symbol` is a text
 * @throws RangeError for a streaming ID
 */
export function requireSymbol(symbol: string): void {
  if (typeof symbol !== 'string') throw new TypeError('symbols must be a list of symbols');
  if (isIdName(symbol)) throw new RangeError(`symbols: ${symbol}: ${ONLY_SYMBOLS}`);
}

/** Returns values by symbol. Without a prototype, so `constructor` and `__proto__` are symbols like all others. */
export function bySymbol<T>(entries: Iterable<readonly [symbol: string, value: T]>): Record<string, T> {
  const values: Record<string, T> = Object.create(null);
  for (const [symbol, value] of entries) values[symbol] = value;
  return values;
}

/** The symbols of the streaming IDs at a service. The table is kept current. */
export class SymbolTable {
  readonly #rest: RestService;
  readonly #type: StreamedType | undefined;
  readonly #platform: Platform;
  readonly #events: SymbolTableEvents;
  /** The symbols in use on a connection. */
  readonly #inUse: ReadonlySet<string>;
  #taxonomyId = -1;
  #idBySymbol: ReadonlyMap<string, number> = new Map();
  #symbolById: ReadonlyMap<number, string> = new Map();
  #isCurrent = false;
  #isReading = false;
  #leftAside = 0;
  /** True when the table became outdated while it was being read. */
  #isOutdated = false;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #cancelTimer: () => void = () => {};
  #isClosed = false;

  constructor(
    rest: RestService,
    type: StreamedType | undefined,
    platform: Platform,
    inUse: ReadonlySet<string>,
    events: SymbolTableEvents,
  ) {
    this.#rest = rest;
    this.#type = type;
    this.#platform = platform;
    this.#inUse = inUse;
    this.#events = events;
  }

  /** True while the table may be used to read IDs. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  /** The taxonomy's ID; -1 before the first read. */
  get taxonomyId(): number {
    return this.#taxonomyId;
  }

  idOf(symbol: string): number | undefined {
    return this.#idBySymbol.get(symbol);
  }

  symbolOf(id: number): string | undefined {
    return this.#symbolById.get(id);
  }

  /** Returns whether a payload has the table's taxonomy, and all of its assets are in the table. */
  fits({ taxonomyId, assets }: Payload): boolean {
    return taxonomyId === this.#taxonomyId && assets.every(({ id }) => this.#symbolById.has(id));
  }

  /** Marks the table as possibly changed. The table is not current until the next read. */
  expire(): void {
    this.#isCurrent = false;
    if (this.#isReading) this.#isOutdated = true;
    else this.#readIn(Math.max(0, this.#readAtMs + RETRY_DELAY_MS - this.#platform.nowMs()));
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelTimer();
  }

  #readIn(delayMs: number): void {
    this.#cancelTimer();
    if (delayMs === 0) void this.#read();
    else this.#cancelTimer = this.#platform.schedule(() => void this.#read(), delayMs);
  }

  /** Returns whether an ID in use now means another symbol, or a symbol in use now has another ID. */
  #moves(idBySymbol: ReadonlyMap<string, number>, symbolById: ReadonlyMap<number, string>): boolean {
    for (const symbol of this.#inUse) {
      const id = this.#idBySymbol.get(symbol);
      if (id === undefined) continue;
      if ((idBySymbol.get(symbol) ?? id) !== id || (symbolById.get(id) ?? symbol) !== symbol) return true;
    }
    return false;
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    this.#readAtMs = this.#platform.nowMs();
    let nextMs = REFRESH_INTERVAL_MS;
    let read: Taxonomy | undefined;
    try {
      const taxonomy = await fetchTaxonomy(this.#rest);
      const idBySymbol = idsBySymbol(taxonomy, this.#type);
      const symbolById = new Map([...idBySymbol].map(([symbol, id]) => [id, symbol]));
      // Frames with the former IDs may still arrive. The table is read again when the connection reports the change.
      const isEarly = this.#isCurrent && this.#moves(idBySymbol, symbolById);
      this.#leftAside = isEarly && this.#leftAside < LEFT_ASIDE_MAX ? this.#leftAside + 1 : 0;
      if (this.#leftAside === 0) {
        this.#taxonomyId = taxonomy.taxonomyId;
        this.#idBySymbol = idBySymbol;
        this.#symbolById = symbolById;
        if (!this.#isOutdated) read = taxonomy;
      }
    } catch (error) {
      if (error instanceof RefusedError && !isRateLimited(error) && !this.#isClosed) {
        this.close();
        this.#events.onRefused(error);
      }
      nextMs = RETRY_DELAY_MS;
      if (!this.#isClosed) this.#events.onError(error as TicksealError);
    }
    this.#isReading = false;
    if (this.#isClosed) return;
    if (this.#isOutdated) nextMs = RETRY_DELAY_MS;
    this.#isOutdated = false;
    this.#readIn(nextMs);
    if (read !== undefined) {
      this.#isCurrent = true;
      this.#events.onRead(read);
    }
  }
}
