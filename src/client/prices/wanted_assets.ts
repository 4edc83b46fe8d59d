import type { Schedule } from '../connect/liveness.js';
import type { Subscriber } from './subscriber.js';
import type { SymbolTable } from './symbol_table.js';

/**
 * The interval of changes. The service allows 10 control messages a second, and a change of the wanted symbols takes up to two
 * messages.
 */
const SYNC_INTERVAL_MS = 250;
/** The delay after a refusal, for example because other connections of the token use up its subscriptions. */
const SYNC_RETRY_MS = 2_000;

/** The parts of a source that its subscription uses. */
export interface WantedAssetsOptions {
  readonly wanted: ReadonlySet<string>;
  readonly symbols: Pick<SymbolTable, 'isCurrent' | 'idOf'>;
  readonly subscriber: Pick<Subscriber, 'assets' | 'isOpen' | 'subscribe' | 'unsubscribe'>;
  readonly schedule: Schedule;
  /** Called with the wanted symbols that the service lacks. */
  readonly onMissing: (symbols: readonly string[]) => void;
  readonly onRefused: (reason: string) => void;
}

/** Keeps the subscription of a connection equal to the wanted symbols. */
export class WantedAssets {
  readonly #options: WantedAssetsOptions;
  /** Cancels the wait for the next change of the subscription. */
  #cancelSync: (() => void) | undefined;
  #isClosed = false;

  constructor(options: WantedAssetsOptions) {
    this.#options = options;
  }

  /** Subscribes the wanted assets and unsubscribes the unwanted assets. */
  sync(): void {
    const { wanted: symbols, symbols: table, subscriber, onMissing } = this.#options;
    if (this.#isClosed || !table.isCurrent || this.#cancelSync !== undefined) return;
    onMissing([...symbols].filter((symbol) => table.idOf(symbol) === undefined));
    if (this.#isClosed) return;
    const wanted = new Set(this.#ids());
    const subscribed = new Set(subscriber.assets);
    const add = [...wanted].filter((id) => !subscribed.has(id));
    const drop = subscriber.assets.filter((id) => !wanted.has(id));
    if (add.length + drop.length === 0) return;
    this.#syncAfter(SYNC_INTERVAL_MS);
    if (add.length > 0) void this.#subscribe(add);
    if (drop.length > 0) void subscriber.unsubscribe(drop);
  }

  /** Subscribes the wanted assets again. On `real_time` the service then sends their current prices. */
  refresh(): void {
    const { subscriber } = this.#options;
    const ids = this.#ids();
    if (ids.length === 0 || !subscriber.isOpen) return;
    void subscriber.unsubscribe(ids);
    void this.#subscribe(ids);
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelSync?.();
  }

  #syncAfter(delayMs: number): void {
    this.#cancelSync?.();
    this.#cancelSync = this.#options.schedule(() => {
      this.#cancelSync = undefined;
      this.sync();
    }, delayMs);
  }

  #ids(): number[] {
    const { wanted, symbols } = this.#options;
    return [...wanted].map((symbol) => symbols.idOf(symbol)).filter((id) => id !== undefined);
  }

  async #subscribe(ids: readonly number[]): Promise<void> {
    const { subscriber, onRefused } = this.#options;
    const result = await subscriber.subscribe(ids, true);
    // A connection that was lost subscribes again without this code.
    if (result.ok || this.#isClosed || !subscriber.isOpen) return;
    this.#syncAfter(SYNC_RETRY_MS);
    onRefused(result.error);
  }
}
