import {
  type AggregatePrice,
  type AssetQuery,
  type Candle,
  type CandleQuery,
  candles,
  latest,
  type MarketHours,
  marketStatus,
  recent,
} from './prices/market_data.js';
import { PricePublisher, type PublishOptions } from './prices/price_publisher.js';
import { StreamClient } from './prices/stream_client.js';

/** Reads and publishes prices. Nothing is connected before a method needs it. */
export class Client extends StreamClient {
  /**
   * The newest aggregate of each asset that has one, each after all its checks passed.
   * @throws UnverifiedError when a check failed, RefusedError when the service refuses, UnreachableError when none answers
   */
  latest(symbols: readonly string[], query: AssetQuery = {}): Promise<Record<string, AggregatePrice>> {
    return this.context.requests.ask((service) => latest(service, symbols, query, this.context.options));
  }

  /**
   * The aggregates that were in force at the end of a UNIX second of the last 10 minutes.
   * @throws as {@link latest}
   */
  recent(
    symbols: readonly string[],
    second: number,
    query: AssetQuery = {},
  ): Promise<Record<string, AggregatePrice>> {
    return this.context.requests.ask((service) =>
      recent(service, symbols, second, query, this.context.options),
    );
  }

  /** Candles of an asset, oldest first, the running one included. They are not signed. */
  candles(symbol: string, query: CandleQuery): Promise<Candle[]> {
    return this.context.requests.ask((service) => candles(service, symbol, query));
  }

  /** The status of an asset's market, and when it changes. It is not signed; that of a stream's ticks is. */
  marketStatus(symbol: string, query: AssetQuery = {}): Promise<MarketHours> {
    return this.context.requests.ask((service) => marketStatus(service, symbol, query));
  }

  /**
   * Makes a publisher, which signs prices and connects at once.
   * @throws RangeError for a key or an oracle ID that is none
   * @throws TypeError in browsers, which cannot send the header that publishing needs
   */
  publisher(options: PublishOptions): PricePublisher {
    return new PricePublisher(options, this.context);
  }
}
