import type { Logger } from 'pino';
import type { Store } from '../../log/store/store.js';
import type { AssetName } from '../../model/asset_map.js';
import type { SharedCandles } from '../log/shared_candles.js';
import {
  type CandleSpan,
  candleAsset,
  candleBlockBytes,
  candleKey,
  readCandleBlockBytes,
} from './candle_keys.js';

export interface CandleExchangeOptions {
  readonly shelf: SharedCandles;
  readonly store: Pick<Store, 'candles' | 'sealedDays' | 'newest'>;
  /** Returns the configured assets. */
  readonly assets: () => readonly AssetName[];
  readonly logger: Pick<Logger, 'warn' | 'info'>;
}

/** The largest number of simultaneous writes to the shared candles. */
const PUTS_MAX = 8;
/** The delay before failed writes are repeated. */
const RETRY_MS = 1_000;
const MINUTES_PER_HOUR = 60;
const HOURS_PER_DAY = 24;

interface Due extends CandleSpan {
  readonly asset: AssetName;
}

/**
 * Writes the leader's candles to the shared candles, a store that all nodes of the cluster can read. The current hour is written after each
 * of its minutes, and a day when it is sealed. So a node has all candles even if it is new, or was away for longer than the log keeps its
 * records.
 */
export class CandleExchange {
  readonly #options: CandleExchangeOptions;
  /** The blocks to write, by their key in the shared candles, in the order of their due times. */
  readonly #due = new Map<string, Due>();
  /** The end of the sealed days in the shared candles, by the asset's name in the shared candles. */
  readonly #daysEnd = new Map<string, number>();
  #putting = 0;
  #retry: NodeJS.Timeout | undefined;
  #isLeading = false;

  constructor(options: CandleExchangeOptions) {
    this.#options = options;
  }

  /**
   * Makes this node write the shared candles from now on.
   * @param isFirst true if no node has led before; this node then writes all its candles
   */
  lead(isFirst: boolean): void {
    const { store, assets } = this.#options;
    this.#isLeading = true;
    for (const asset of assets()) {
      const { first, end } = store.sealedDays(asset);
      const running = store.newest(asset)?.minute?.minute;
      this.#daysEnd.set(candleAsset(asset), isFirst ? first : Math.max(first, end - 1));
      if (running === undefined) continue;
      const hour = Math.floor(running / MINUTES_PER_HOUR);
      for (let before = isFirst ? end * HOURS_PER_DAY : hour - 1; before <= hour; before++)
        this.#add({ asset, unit: 'hour', number: before });
    }
    this.putDays();
  }

  stepDown(): void {
    this.#isLeading = false;
    this.#due.clear();
    clearTimeout(this.#retry);
    this.#retry = undefined;
  }

  /**
   * Notes that a minute of the asset has closed.
   * @param minute the number of minutes since 1970
   */
  closed(asset: AssetName, minute: number): void {
    if (this.#isLeading) this.#add({ asset, unit: 'hour', number: Math.floor(minute / MINUTES_PER_HOUR) });
  }

  /** Sends the days that were sealed since the last call. Must be called at intervals. */
  putDays(): void {
    if (!this.#isLeading) return;
    const { store, assets } = this.#options;
    for (const asset of assets()) {
      const name = candleAsset(asset);
      const { first, end } = store.sealedDays(asset);
      // An asset without a candle has day 0 as its first day. The first candle moves that day to the present.
      for (let day = Math.max(first, this.#daysEnd.get(name) ?? first); day < end; day++)
        this.#add({ asset, unit: 'day', number: day });
      this.#daysEnd.set(name, end);
    }
  }

  /**
   * Reads all shared blocks of the cluster into the store. Skips unreadable blocks, and blocks of assets that are not configured.
   * @throws Error when no server answers
   */
  async fetch(): Promise<void> {
    const { shelf, store, assets, logger } = this.#options;
    const assetOf = new Map(assets().map((asset) => [candleAsset(asset), asset]));
    let blocks = 0;
    store.candles.closeRunning();
    for await (const { key, bytes } of shelf.read()) {
      const block = readCandleBlockBytes(key, bytes);
      const asset = block && assetOf.get(block.asset);
      if (block === undefined || asset === undefined) continue;
      try {
        if (block.unit === 'hour') await store.candles.addHour(asset, block.number, block.candles);
        else await store.candles.addDay(asset, block.number, block.candles);
        blocks++;
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
      }
    }
    // The position in the log says from now on that the store has these candles.
    await store.candles.sync();
    logger.info({ blocks }, 'candles were read from the cluster');
  }

  #add(due: Due): void {
    // The block moves behind all blocks that are already due, because it has the newest minutes.
    const key = candleKey(due.asset, due).join('.');
    this.#due.delete(key);
    this.#due.set(key, due);
    this.#putNext();
  }

  #putNext(): void {
    while (this.#putting < PUTS_MAX && this.#retry === undefined) {
      const [key, due] = this.#due.entries().next().value ?? [];
      if (key === undefined || due === undefined) return;
      this.#due.delete(key);
      const bytes = this.#candlesOf(due);
      if (bytes !== undefined) this.#put(due, bytes);
    }
  }

  #candlesOf({ asset, unit, number }: Due): Uint8Array | undefined {
    const { candles } = this.#options.store;
    return unit === 'hour' ? candles.hour(asset, number) : candles.day(asset, number);
  }

  #put(due: Due, candles: Uint8Array): void {
    this.#putting++;
    this.#options.shelf
      .put(candleKey(due.asset, due), candleBlockBytes(due.number, candles))
      .catch((error: Error) => this.#putAgain(due, error))
      .finally(() => {
        this.#putting--;
        this.#putNext();
      });
  }

  #putAgain(due: Due, { message }: Error): void {
    if (!this.#isLeading) return;
    const key = candleKey(due.asset, due).join('.');
    if (!this.#due.has(key)) this.#due.set(key, due);
    if (this.#retry !== undefined) return;
    this.#options.logger.warn(`candles wait for the NATS servers: ${message}`);
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.#putNext();
    }, RETRY_MS);
  }
}
