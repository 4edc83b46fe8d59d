import type { Logger } from 'pino';
import type { Store } from '../../log/store/store.js';
import type { AssetName } from '../../model/asset_map.js';
import { NS_PER_SECOND, type TimeNs } from '../../model/time.js';
import type { Bus } from '../bus.js';
import type { SharedCandles } from '../log/shared_candles.js';
import { CandleExchange } from './candle_exchange.js';

export interface NodeCandlesOptions {
  readonly bus: Bus & { readonly candles: SharedCandles };
  readonly store: Store;
  /** The assets in the configuration at the start. */
  readonly assets: readonly AssetName[];
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

/** The interval between writes of sealed days to the shared candles. */
const DAYS_NS = 10n * NS_PER_SECOND;

/** The candles of a node. The cluster's shared candles have the candles that are no longer in the log. */
export class NodeCandles {
  readonly #options: NodeCandlesOptions;
  #assets: readonly AssetName[];
  readonly exchange: CandleExchange;
  /** The log's first sequence when the shared candles were last read; `undefined` before the first read. */
  #readBefore: number | undefined;
  #isChanged = false;
  #daysNs = 0n;

  private constructor(options: NodeCandlesOptions) {
    const { bus, store, assets, logger } = options;
    this.#options = options;
    this.#assets = assets;
    this.exchange = new CandleExchange({ shelf: bus.candles, store, assets: () => this.#assets, logger });
  }

  /**
   * Reads the candles that the log no longer has.
   * @param applied the sequence of the last record in the store
   */
  static async open(options: NodeCandlesOptions, applied: number): Promise<NodeCandles> {
    const { firstSequence } = await options.bus.extent();
    const candles = new NodeCandles(options);
    if (firstSequence > applied + 1 || options.store.log.position === undefined)
      await candles.#read(firstSequence);
    return candles;
  }

  /**
   * Reads candles from the shared candles, because the servers have deleted log records before `firstSequence` that this node has not read.
   * Not needed on the first call if the servers have deleted no record since the start.
   */
  async missing(firstSequence: number): Promise<void> {
    const { logger } = this.#options;
    logger.warn({ firstSequence }, 'the log was deleted up to here before this node had read it');
    if (firstSequence === this.#readBefore) return;
    try {
      await this.#read(firstSequence);
    } catch (error) {
      logger.error({ err: error }, 'candles of the time that is missing could not be read');
    }
  }

  /** Applies changed assets. */
  reload(assets: readonly AssetName[]): void {
    this.#assets = assets;
  }

  /** Returns true if this node has read shared candles since the last call. */
  takeChanged(): boolean {
    const isChanged = this.#isChanged;
    this.#isChanged = false;
    return isChanged;
  }

  tick(nowNs: TimeNs): void {
    if (nowNs < this.#daysNs) return;
    this.#daysNs = nowNs + DAYS_NS;
    this.exchange.putDays();
  }

  async #read(firstSequence: number): Promise<void> {
    await this.exchange.fetch();
    this.#readBefore = firstSequence;
    this.#isChanged = true;
  }
}
