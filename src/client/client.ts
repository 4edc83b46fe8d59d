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

/**
 * Client that reads, streams and publishes prices. A client opens its first connection when a method needs one; {@link createClient}
 * makes a client.
 */
export class Client extends StreamClient {
  /**
   * Reads the newest aggregate of each asset, and checks every signature in it.
   * @param symbols the symbols; at most the number that the service allows in a request, by default 100
   * @returns symbol to aggregate; assets that have no price are left out
   * @throws UnverifiedError when a check fails
   * @throws RefusedError when the service refuses the token, the symbols or the rate of requests
   * @throws UnreachableError when no service answers
   * @throws ProtocolError for an answer that this client cannot read
   * @throws TypeError when `symbols` is not a list of texts
   */
  latest(symbols: readonly string[], query: AssetQuery = {}): Promise<Record<string, AggregatePrice>> {
    return this.context.requests.ask((service) => latest(service, symbols, query, this.context.options));
  }

  /**
   * Reads the aggregates that were in force at the end of a UNIX second, and checks every signature in them.
   * @param second UNIX seconds, of the last 10 minutes
   * @returns symbol to aggregate; assets that had no price at that second are left out
   * @throws RefusedError when no asset had a price at that second, and the errors of `latest`
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

  /**
   * Reads the candles of an asset. Candles are not signed.
   * @returns the candles, oldest first, with the unfinished candle; intervals without a price are left out
   * @throws RefusedError, UnreachableError or ProtocolError, like `latest`
   */
  candles(symbol: string, query: CandleQuery): Promise<Candle[]> {
    return this.context.requests.ask((service) => candles(service, symbol, query));
  }

  /**
   * Reads the status of an asset's market and the time of its next change. This status is not signed, but the status in a
   * stream's ticks is signed.
   * @throws RefusedError when the asset has no market hours, and for the reasons of `latest`
   * @throws UnreachableError or ProtocolError, like `latest`
   */
  marketStatus(symbol: string, query: AssetQuery = {}): Promise<MarketHours> {
    return this.context.requests.ask((service) => marketStatus(service, symbol, query));
  }

  /**
   * Makes a publisher, which signs prices. The publisher connects to every service of the client at once.
   * @throws RangeError for a key that is invalid on its curve, or for an oracle ID that does not have exactly 5 characters
   * @throws TypeError in browsers, because browsers cannot send the header that publishing needs
   */
  publisher(options: PublishOptions): PricePublisher {
    return new PricePublisher(options, this.context);
  }
}
