import type { Platform } from './connect/platform.js';
import type { RestService } from './connect/rest_service.js';
import type { ClientOptions } from './prices/client_context.js';
import { LogSample } from './prices/log_sample.js';
import {
  type AggregatePrice,
  type AssetQuery,
  at,
  type Candle,
  type CandleQuery,
  candles,
  latest,
  type MarketHours,
  marketStatus,
  recent,
  requireNs,
} from './prices/market_data.js';
import { missedTicks } from './prices/missed_ticks.js';
import { PricePublisher, type PublishOptions } from './prices/price_publisher.js';
import { priceRange, type RangeQuery, requireRange } from './prices/price_range.js';
import type { PriceStream, StreamOptions } from './prices/price_stream.js';
import { StreamClient } from './prices/stream_client.js';
import { requireSymbol } from './prices/symbol_table.js';

/**
 * Client that reads, streams and publishes prices. A client opens its first connection when a method needs one; {@link createClient}
 * makes a client.
 */
export class Client extends StreamClient {
  /**
   * @internal
   * @throws TypeError or RangeError for wrong options
   */
  constructor(options: ClientOptions, platform: Platform) {
    super(options, platform);
    if (options.log !== undefined) this.context.sample = new LogSample(options.log, this.context);
  }

  /**
   * Streams the prices of the assets with these symbols. Each price is delivered after its signature was checked.
   * @throws TypeError when `symbols` is not a list of texts
   */
  override stream(symbols: readonly string[], options: StreamOptions = {}): PriceStream {
    this.context.readMissed ??= (gap, stream) => missedTicks(this.context, gap, stream);
    return super.stream(symbols, options);
  }

  /**
   * Reads the newest aggregate of each asset, and checks every signature in the aggregates.
   * @param symbols the symbols; at most the number that the service allows in a request, by default 100
   * @returns symbol to aggregate; assets that have no price are left out
   * @throws UnverifiedError when a check fails
   * @throws RefusedError when the service refuses the token, the symbols or the rate of requests
   * @throws UnreachableError when no service answers
   * @throws ProtocolError for an answer that this client cannot read
   * @throws TypeError when `symbols` is not a list of texts
   */
  latest(symbols: readonly string[], query: AssetQuery = {}): Promise<Record<string, AggregatePrice>> {
    return this.#aggregates((service) => latest(service, symbols, query, this.context.trust));
  }

  /**
   * Reads the newest aggregate of each asset at the end of a UNIX second. Checks every signature in the aggregates.
   * @param second UNIX seconds, of the last 10 minutes
   * @returns symbol to aggregate; assets that had no price at that second are left out
   * @throws RefusedError when no asset had a price at that second, and the errors of `latest`
   */
  recent(
    symbols: readonly string[],
    second: number,
    query: AssetQuery = {},
  ): Promise<Record<string, AggregatePrice>> {
    return this.#aggregates((service) => recent(service, symbols, second, query, this.context.trust));
  }

  /**
   * Reads the newest aggregate of each asset at an instant, and checks every signature in the aggregates. An old aggregate may lack the
   * publishers' prices. The client then checks only the service's signature.
   * @param timestampNs UNIX nanoseconds, at most now; the service keeps aggregates for 90 days by default
   * @returns symbol to aggregate; assets that had no price at that instant are left out
   * @throws RefusedError when no asset had a price then, with `keptFromNs` when the service keeps nothing that old, and the errors of
   * `latest`
   */
  async at(
    symbols: readonly string[],
    timestampNs: bigint,
    query: AssetQuery = {},
  ): Promise<Record<string, AggregatePrice>> {
    requireNs('timestampNs', timestampNs);
    return this.#aggregates((service) => at(service, symbols, timestampNs, query, this.context.trust));
  }

  /**
   * Reads every aggregate of an asset that the service signed in a time range, oldest first. Checks the signatures of each aggregate.
   * Requests a long range in parts, while the caller iterates. After a lost connection the iterator continues at the same place.
   * @returns an async iterator, for `for await`; each price's `timestampNs` is the time of its signature
   * @throws LostRangeError when the service has lost prices of the range
   * @throws RefusedError with `keptFromNs` when `from` is earlier than the oldest price that the service keeps, and the errors of
   * `latest`
   * @throws UnreachableError when no service answers after several attempts
   */
  range(symbol: string, query: RangeQuery): AsyncGenerator<AggregatePrice, void, undefined> {
    requireSymbol(symbol);
    requireRange(query);
    return priceRange(this.context, symbol, query);
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

  async #aggregates(
    request: (service: RestService) => Promise<Record<string, AggregatePrice>>,
  ): Promise<Record<string, AggregatePrice>> {
    const prices = await this.context.requests.ask(request);
    for (const price of Object.values(prices)) {
      this.context.memory.addAggregate(price);
      this.context.sample?.received(price);
    }
    return prices;
  }
}
