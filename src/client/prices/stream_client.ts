/// <reference lib="esnext.disposable" preserve="true" />
import { REST_PATHS } from '../../wire/paths.js';
import type { Platform } from '../connect/platform.js';
import { ClientContext, type ClientEvents, type ClientOptions } from './client_context.js';
import { PriceStream, type StreamOptions } from './price_stream.js';
import { fetchTaxonomy, type Taxonomy } from './taxonomy.js';

/** Streams verified prices. Nothing is connected before a method needs it. */
export class StreamClient {
  protected readonly context: ClientContext;

  /** @throws TypeError or RangeError for wrong options */
  constructor(options: ClientOptions, platform: Platform) {
    this.context = new ClientContext(options, platform);
  }

  /** Calls `listener` with every event of that name. @returns a function that ends this. */
  on<Name extends keyof ClientEvents>(name: Name, listener: (event: ClientEvents[Name]) => void): () => void {
    return this.context.listeners.on(name, listener);
  }

  /**
   * Streams the prices of some assets, named by symbol, each after its signature was verified.
   * @throws TypeError when symbols are no list
   */
  stream(symbols: readonly string[], options: StreamOptions = {}): PriceStream {
    return new PriceStream(symbols, options, this.context);
  }

  /** The text with which the service answers a path of its REST API, with its query. @throws RefusedError, UnreachableError */
  get(path: string): Promise<string> {
    return this.context.requests.ask((service) => service.get(path));
  }

  /** The symbols that the token covers. */
  async assets(): Promise<string[]> {
    return (await this.context.requests.ask((service) => service.getData(REST_PATHS.assets))) as string[];
  }

  /** The assets that the token covers with their streaming IDs, and the keys that the service says it signs with. */
  taxonomy(): Promise<Taxonomy> {
    return this.context.requests.ask(fetchTaxonomy);
  }

  /** Ends all streams and publishers; resolves when their connections are closed. */
  close(): Promise<void> {
    return this.context.close();
  }

  [Symbol.dispose](): void {
    void this.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
