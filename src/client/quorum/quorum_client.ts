/// <reference lib="esnext.disposable" preserve="true" />
import { Client } from '../client.js';
import type { TicksealError } from '../connect/errors.js';
import { EventListeners } from '../connect/event_listeners.js';
import type { Platform } from '../connect/platform.js';
import type { StateEvent } from '../prices/client_context.js';
import type { AggregatePrice, AssetQuery } from '../prices/market_data.js';
import { requireSymbols } from '../prices/symbol_table.js';
import {
  clientsOf,
  type OperatorClient,
  type QuorumClientOptions,
  type QuorumRules,
  rulesOf,
} from './quorum_options.js';
import { askOperators, type OperatorRequest } from './quorum_request.js';
import { QuorumStream, type QuorumStreamOptions } from './quorum_stream.js';
import type { NoQuorumEvent, QuorumTick } from './quorum_tick.js';

/** The events of a {@link QuorumClient}, by name. */
export type QuorumEvents = {
  /** A symbol has no price, because fewer operators than the threshold agree. */
  readonly noQuorum: NoQuorumEvent;
  /** A connection of an operator came up or was lost. */
  readonly state: StateEvent & { readonly operator: string };
  /** An error at an operator that no caller waits for. */
  readonly error: { readonly operator: string; readonly error: TicksealError };
};

/**
 * Client that reads and streams prices on which several operators agree. Each operator has its own keys, services and streaming IDs;
 * assets are matched by symbol. {@link createClient} makes a quorum client when the options contain `quorum`.
 */
export class QuorumClient {
  readonly #operators: readonly OperatorClient<Client>[];
  readonly #rules: QuorumRules;
  readonly #platform: Platform;
  readonly #listeners = new EventListeners<QuorumEvents>();
  readonly #open = new Set<QuorumStream>();

  /**
   * @internal
   * @throws TypeError or RangeError for wrong options
   */
  constructor(options: QuorumClientOptions, platform: Platform) {
    this.#rules = rulesOf(options);
    this.#platform = platform;
    this.#operators = clientsOf(options, (one) => new Client(one, platform));
    for (const { name: operator, client } of this.#operators) {
      client.on('state', (event) => this.#listeners.emit('state', { ...event, operator }));
      client.on('error', (error) => this.#listeners.emit('error', { operator, error }));
    }
  }

  /**
   * Calls `listener` with every event of that name.
   * @returns a function that removes the listener
   */
  on<Name extends keyof QuorumEvents>(name: Name, listener: (event: QuorumEvents[Name]) => void): () => void {
    return this.#listeners.on(name, listener);
  }

  /**
   * Streams the median prices of the assets with these symbols. While too few operators agree about a symbol, the stream delivers no
   * price of the symbol, and a `noQuorum` event gives the reason.
   * @throws TypeError when `symbols` is not a list of texts
   */
  stream(symbols: readonly string[], options: QuorumStreamOptions = {}): QuorumStream {
    requireSymbols(symbols);
    const stream = new QuorumStream(symbols, options, {
      operators: this.#operators,
      rules: this.#rules,
      platform: this.#platform,
      onNoQuorum: (event) => this.#listeners.emit('noQuorum', event),
      onClosed: (closed) => this.#open.delete(closed),
    });
    this.#open.add(stream);
    return stream;
  }

  /**
   * Reads the newest aggregates from all operators, and checks every signature in the aggregates.
   * @returns symbol to price; symbols about which too few operators agree are left out, and `noQuorum` events say why
   * @throws NoQuorumError when there is no price at all
   * @throws TypeError when `symbols` is not a list of texts
   */
  latest(symbols: readonly string[], query: AssetQuery = {}): Promise<Record<string, QuorumTick>> {
    return this.#ask(symbols, ({ client }, known) => client.latest(known, query), {
      atMs: this.#platform.nowMs,
      aheadMsMax: this.#rules.maxAgeMs,
    });
  }

  /**
   * Reads the newest aggregates at an instant from all operators, and checks every signature in the aggregates. Ages count from that
   * instant, and newer prices do not count.
   * @param timestampNs UNIX nanoseconds, at most now; a service keeps aggregates for 90 days by default
   * @returns symbol to price; symbols about which too few operators agree are left out, and `noQuorum` events say why
   * @throws NoQuorumError when there is no price at all
   * @throws TypeError when `symbols` is not a list of texts
   */
  at(
    symbols: readonly string[],
    timestampNs: bigint,
    query: AssetQuery = {},
  ): Promise<Record<string, QuorumTick>> {
    const atMs = Number(timestampNs / 1_000n) / 1_000;
    return this.#ask(symbols, ({ client }, known) => client.at(known, timestampNs, query), {
      atMs: () => atMs,
      aheadMsMax: 0,
    });
  }

  /** Ends all streams, and resolves when their connections are closed. */
  async close(): Promise<void> {
    await Promise.all([...this.#open].map((stream) => stream.close()));
    await Promise.all(this.#operators.map(({ client }) => client.close()));
  }

  /** Ends all streams at the end of a `using` block, like `close`, but does not wait until they are closed. */
  [Symbol.dispose](): void {
    void this.close();
  }

  /** Ends all streams at the end of an `await using` block, like `close`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #ask(
    symbols: readonly string[],
    request: (
      operator: OperatorClient<Client>,
      known: readonly string[],
    ) => Promise<Record<string, AggregatePrice>>,
    { atMs, aheadMsMax }: { readonly atMs: () => number; readonly aheadMsMax: number },
  ): Promise<Record<string, QuorumTick>> {
    requireSymbols(symbols);
    const { nowMs } = this.#platform;
    const asked: OperatorRequest<OperatorClient<Client>> = {
      symbols,
      request,
      rules: this.#rules,
      time: () => ({ atMs: atMs(), aheadMsMax, nowMs }),
    };
    return askOperators(this.#operators, asked, this.#platform, (event) =>
      this.#listeners.emit('noQuorum', event),
    );
  }
}
