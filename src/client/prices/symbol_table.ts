import { isRateLimited, RefusedError, type TicksealError } from '../connect/errors.js';
import type { Platform } from '../connect/platform.js';
import type { RestService } from '../connect/rest_service.js';
import { fetchTaxonomy, idsBySymbol, type StreamedType, type Taxonomy } from './taxonomy.js';

/** How often the taxonomy is read again while all is well. */
const REFRESH_INTERVAL_MS = 10_000;
/** How long after the last read at the earliest. */
const RETRY_DELAY_MS = 1_000;
/** How often a table in which an ID in use has moved is left aside; the connection says it long before. */
const LEFT_ASIDE_MAX = 6;

export interface SymbolTableEvents {
  /** The table was read; it may have changed. */
  readonly onRead: (taxonomy: Taxonomy) => void;
  readonly onError: (error: TicksealError) => void;
  /** The service refuses to tell: there is no further attempt. */
  readonly onRefused: (error: TicksealError) => void;
}

/** @throws TypeError for anything but a list of texts: a single text would be taken for a list of its letters */
export function requireSymbols(symbols: readonly string[]): void {
  if (!Array.isArray(symbols) || symbols.some((symbol) => typeof symbol !== 'string'))
    throw new TypeError('symbols must be a list of symbols');
}

/** Which streaming ID stands for which symbol at one service, kept current. */
export class SymbolTable {
  readonly #rest: RestService;
  readonly #type: StreamedType | undefined;
  readonly #platform: Platform;
  readonly #events: SymbolTableEvents;
  /** Symbols that are read from a connection. */
  readonly #inUse: ReadonlySet<string>;
  #taxonomyId = -1;
  #idBySymbol: ReadonlyMap<string, number> = new Map();
  #symbolById: ReadonlyMap<number, string> = new Map();
  #isCurrent = false;
  #isReading = false;
  #leftAside = 0;
  /** It was called outdated while it was being read. */
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

  /** Whether IDs may be read with it. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  /** -1 before it was read. */
  get taxonomyId(): number {
    return this.#taxonomyId;
  }

  idOf(symbol: string): number | undefined {
    return this.#idBySymbol.get(symbol);
  }

  symbolOf(id: number): string | undefined {
    return this.#symbolById.get(id);
  }

  /** It may have changed: it is not current until it was read again. */
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

  /** Whether the ID of a symbol in use stands for another one, or another ID for it. */
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
      // Frames of the IDs before may still come: it is read again when the connection says that they have moved.
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
