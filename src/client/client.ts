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

/** Reads, streams and publishes prices. It connects to nothing before a method needs it; {@link createClient} makes it. */
export class Client extends StreamClient {
  /**
   * Reads the newest aggregate of each asset, and checks every signature in it.
   * @param symbols at most as many as the service allows in one request, 100 unless its operator chose another number
   * @returns symbol to aggregate; an asset without a price is left out
   * @throws UnverifiedError when a check failed
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
   * @returns symbol to aggregate; an asset without a price at that time is left out
   * @throws RefusedError when none of the assets had a price then, and the errors of `latest`
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
   * Reads candles of an asset. They are not signed.
   * @returns the candles, oldest first, the running one included; none where there was no price
   * @throws RefusedError, UnreachableError or ProtocolError as `latest` does
   */
  candles(symbol: string, query: CandleQuery): Promise<Candle[]> {
    return this.context.requests.ask((service) => candles(service, symbol, query));
  }

  /**
   * Reads the status of an asset's market, and when it changes. It is not signed; the status of a stream's ticks is.
   * @throws RefusedError when the asset has no market hours, and for the other reasons of `latest`
   * @throws UnreachableError or ProtocolError as `latest` does
   */
  marketStatus(symbol: string, query: AssetQuery = {}): Promise<MarketHours> {
    return this.context.requests.ask((service) => marketStatus(service, symbol, query));
  }

  /**
   * Makes a publisher, which signs prices. It connects to every service of the client at once.
   * @throws RangeError for a key that is not one of the curve, or an oracle ID of another length than 5
   * @throws TypeError in browsers, which cannot send the header that publishing needs
   */
  publisher(options: PublishOptions): PricePublisher {
    return new PricePublisher(options, this.context);
  }
}
