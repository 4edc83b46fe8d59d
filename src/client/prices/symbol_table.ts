import { isIdName, ONLY_SYMBOLS } from '../../wire/asset_id.js';
import { isRateLimited, RefusedError, type TicksealError } from '../connect/errors.js';
import type { Platform } from '../connect/platform.js';
import type { RestService } from '../connect/rest_service.js';
import type { AcceptedTaxonomy, Meanings } from './meanings.js';
import { fetchTaxonomy, idsBySymbol, type StreamedType, type Taxonomy } from './taxonomy.js';

/** The interval at which the taxonomy is read again. */
const REFRESH_INTERVAL_MS = 10_000;
/** The shortest time between two reads. */
const RETRY_DELAY_MS = 1_000;
/** The number of taxonomy IDs whose symbols are kept. A service raises its taxonomy ID, and frames of the former ID may still arrive. */
const TAXONOMIES_MAX = 4;

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

/** The symbols of a taxonomy ID. */
interface Mapping {
  /** True when a signer has signed all of these symbols, or the user has pinned them. */
  readonly isChecked: boolean;
  readonly symbolById: ReadonlyMap<number, string>;
}

/** The symbols of the streaming IDs at a service. The table is kept current. */
export class SymbolTable {
  readonly #rest: RestService;
  readonly #type: StreamedType | undefined;
  readonly #platform: Platform;
  readonly #meanings: Pick<Meanings, 'accept'>;
  readonly #events: SymbolTableEvents;
  #taxonomyId = -1;
  #idBySymbol: ReadonlyMap<string, number> = new Map();
  /** The accepted symbols by taxonomy ID, the newest last. */
  readonly #mappings = new Map<number, Mapping>();
  #isCurrent = false;
  #isReading = false;
  /** True when the table became outdated while it was being read. */
  #isOutdated = false;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #cancelTimer: () => void = () => {};
  #isClosed = false;

  constructor(
    rest: RestService,
    type: StreamedType | undefined,
    platform: Platform,
    meanings: Pick<Meanings, 'accept'>,
    events: SymbolTableEvents,
  ) {
    this.#rest = rest;
    this.#type = type;
    this.#platform = platform;
    this.#meanings = meanings;
    this.#events = events;
  }

  /** True while the table is the service's newest list. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  /** The taxonomy ID of the newest list; -1 before the first list. */
  get taxonomyId(): number {
    return this.#taxonomyId;
  }

  /** Returns the ID of a symbol in the newest list. */
  idOf(symbol: string): number | undefined {
    return this.#idBySymbol.get(symbol);
  }

  /**
   * Returns the symbol of an ID.
   * @param isChecked true for the ID of a verified payload, whose symbol needs a signature too
   */
  symbolOf(id: number, taxonomyId = this.#taxonomyId, isChecked = false): string | undefined {
    const mapping = this.#mappings.get(taxonomyId);
    return mapping?.isChecked || !isChecked ? mapping?.symbolById.get(id) : undefined;
  }

  /** Marks the table as possibly changed, and reads it again soon. */
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

  /** Adds an accepted list. An asset that left the list keeps its symbol, because its ID keeps its meaning. */
  #useList({ taxonomy: { taxonomyId, assets }, isChecked }: AcceptedTaxonomy): void {
    this.#taxonomyId = taxonomyId;
    this.#idBySymbol = idsBySymbol(assets, this.#type);
    const before = this.#mappings.get(taxonomyId);
    const known = before?.isChecked === isChecked ? before.symbolById : [];
    const symbols = [...this.#idBySymbol].map(([symbol, id]) => [id, symbol] as const);
    this.#mappings.delete(taxonomyId);
    this.#mappings.set(taxonomyId, { isChecked, symbolById: new Map([...known, ...symbols]) });
    const [oldest] = this.#mappings.keys();
    if (this.#mappings.size > TAXONOMIES_MAX) this.#mappings.delete(oldest!);
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    this.#readAtMs = this.#platform.nowMs();
    let nextMs = REFRESH_INTERVAL_MS;
    let read: Taxonomy | undefined;
    try {
      const accepted = this.#meanings.accept(this.#rest.url, await fetchTaxonomy(this.#rest));
      this.#useList(accepted);
      read = accepted.taxonomy;
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
    const isCurrent = read !== undefined && !this.#isOutdated;
    if (this.#isOutdated) nextMs = RETRY_DELAY_MS;
    this.#isOutdated = false;
    this.#readIn(nextMs);
    if (isCurrent) {
      this.#isCurrent = true;
      this.#events.onRead(read!);
    }
  }
}
