/// <reference lib="esnext.disposable" preserve="true" />
import { ASSETS_PATH } from '../../wire/stream_paths.js';
import type { Platform } from '../connect/platform.js';
import type { FormReader } from '../verify/form_reader.js';
import { ClientContext, type ClientEvents, type ClientOptions } from './client_context.js';
import type { LogFinding, LogQuery } from './log_of_service.js';
import { PriceStream, type StreamOptions } from './price_stream.js';
import { fetchTaxonomy, type Taxonomy } from './taxonomy.js';

/**
 * Client that streams verified prices. A client opens its first connection when a method needs one; {@link createStreamClient}
 * makes a client.
 */
export class StreamClient {
  protected readonly context: ClientContext;

  /**
   * @internal
   * @throws TypeError or RangeError for wrong options
   */
  constructor(options: ClientOptions, platform: Platform) {
    if (options.log !== undefined && new.target === StreamClient)
      throw new TypeError('log needs a client of createClient');
    this.context = new ClientContext(options, platform);
  }

  /**
   * Calls `listener` with every event of that name.
   * @returns a function that removes the listener
   */
  on<Name extends keyof ClientEvents>(name: Name, listener: (event: ClientEvents[Name]) => void): () => void {
    return this.context.listeners.on(name, listener);
  }

  /**
   * Streams the prices of the assets with these symbols. Each price is delivered after its signature was checked.
   * @throws TypeError when `symbols` is not a list of texts
   */
  stream(symbols: readonly string[], options: StreamOptions = {}): PriceStream {
    return new PriceStream(symbols, options, this.context);
  }

  /**
   * Requests a path of the service's REST API, with its query. @returns the text of the answer
   * @throws RefusedError when the service refuses the request, UnreachableError when no service answers
   */
  get(path: string): Promise<string> {
    return this.context.requests.ask((service) => service.get(path));
  }

  /**
   * Reads the symbols that the token covers.
   * @throws RefusedError when the service refuses the request, UnreachableError when no service answers, ProtocolError for an
   * unreadable answer
   */
  async assets(): Promise<string[]> {
    const texts = (answer: FormReader) => answer.texts('data');
    return [...(await this.context.requests.ask((service) => service.getForm(ASSETS_PATH, texts)))];
  }

  /**
   * Reads the assets that the token covers, with their streaming IDs, and the keys that the service declares as its own. Only the IDs,
   * symbols and signature types are signed.
   * @throws UnsignedMappingError when the client has signers, and none of them has signed the IDs
   * @throws EquivocationError when the signers have given two meanings to an ID
   * @throws RefusedError when the service refuses the request, UnreachableError when no service answers, ProtocolError for an
   * unreadable answer
   */
  taxonomy(): Promise<Taxonomy> {
    const { requests, meanings } = this.context;
    return requests.ask(
      async (service) => meanings.accept(service.url, await fetchTaxonomy(service)).taxonomy,
    );
  }

  /**
   * Searches the service's public log for an aggregate. When the service gives no proof, the client reads the files of the log.
   * @param aggregate the aggregate as REST serves it: JSON with every digit
   * @returns the place in the log, the evidence that the log contradicts the aggregate, or the reason why neither is known
   * @throws TlogError for a policy that cannot be read
   */
  async searchLog(aggregate: string, query: LogQuery): Promise<LogFinding> {
    // The verifier of logs is loaded only here, because it is large, and few clients use it.
    const { searchServiceLog } = await import('./log_of_service.js');
    const { services, platform } = this.context;
    return searchServiceLog(services[0]!.url, platform, aggregate, query);
  }

  /** Ends all streams and publishers, and resolves when their connections are closed. */
  close(): Promise<void> {
    return this.context.close();
  }

  /** Ends all streams and publishers at the end of a `using` block, like `close`, but does not wait until they are closed. */
  [Symbol.dispose](): void {
    void this.close();
  }

  /** Ends all streams and publishers at the end of an `await using` block, like `close`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
