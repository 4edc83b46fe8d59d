import {
  type TicksealError,
  UnknownAssetError,
  UnsignedMappingError,
  UnverifiedError,
} from '../connect/errors.js';
import type { PriceStream, StreamOptions } from '../prices/price_stream.js';
import type { StreamClient } from '../prices/stream_client.js';
import type { Tick } from '../prices/tick.js';
import type { OperatorClient } from './quorum_options.js';
import { equivocationOf, type OperatorFault, type Standing } from './vote_count.js';

/** The events of an operator's stream. */
export interface OperatorStreamEvents {
  /** Called when the operator's price of a symbol is new. */
  readonly onPrice: (symbol: string) => void;
  /** Called when none of the operator's services has these symbols. */
  readonly onMissing: () => void;
  /** Called when the operator will send no further price. */
  readonly onEnded: (error: unknown) => void;
}

/** The stream of one operator. The class holds the operator's newest verified price and newest fault for each symbol. */
export class OperatorStream {
  readonly name: string;
  readonly #operator: OperatorClient;
  readonly #stream: PriceStream;
  readonly #events: OperatorStreamEvents;
  readonly #ticks = new Map<string, Tick>();
  readonly #faults = new Map<string, OperatorFault>();
  readonly #missing = new Set<string>();
  /** The services that are not connected, with the reasons. */
  readonly #down = new Map<string, OperatorFault>();
  /** The newest refusal of a mapping of IDs by this client. */
  #unmapped: UnsignedMappingError | undefined;
  readonly #forget: readonly (() => void)[];

  constructor(
    operator: OperatorClient,
    symbols: readonly string[],
    options: StreamOptions,
    events: OperatorStreamEvents,
  ) {
    const { client } = operator;
    this.name = operator.name;
    this.#operator = operator;
    this.#events = events;
    this.#forget = this.#listen(client);
    // A stream ends when no service has its initial symbols. This stream must not end, so its symbols are added later.
    this.#stream = client.stream([], options);
    this.#stream.add(symbols);
    void this.#read();
  }

  add(symbols: readonly string[]): void {
    this.#stream.add(symbols);
  }

  remove(symbols: readonly string[]): void {
    this.#stream.remove(symbols);
    for (const symbol of symbols) {
      this.#ticks.delete(symbol);
      this.#faults.delete(symbol);
      this.#missing.delete(symbol);
    }
  }

  /** Returns whether none of the operator's services has a symbol. */
  lacks(symbol: string): boolean {
    return this.#missing.has(symbol);
  }

  /** Returns the state of this operator for a symbol. */
  standingOf(symbol: string): Standing {
    const price = this.#ticks.get(symbol);
    const isDown = this.#down.size === this.#operator.services;
    const [down] = isDown ? this.#down.values() : [];
    return {
      operator: this.name,
      price,
      fault: equivocationOf(this.#operator) ?? down ?? this.#faults.get(symbol),
    };
  }

  close(): Promise<void> {
    for (const forget of this.#forget) forget();
    return this.#stream.close();
  }

  async #read(): Promise<void> {
    try {
      for await (const tick of this.#stream) {
        this.#faults.delete(tick.symbol);
        this.#missing.delete(tick.symbol);
        if (tick.verdict === 'verified') this.#ticks.set(tick.symbol, tick);
        else this.#faults.set(tick.symbol, { verdict: 'unverified', reason: 'signers names no address' });
        this.#events.onPrice(tick.symbol);
      }
    } catch (error) {
      this.#events.onEnded(error);
    }
  }

  #listen(client: StreamClient): (() => void)[] {
    return [
      client.on('error', (error) => this.#failed(error)),
      client.on('state', ({ url, state, reason }) => {
        if (state === 'open') this.#down.delete(url);
        else if (state !== 'stale') {
          const unmapped = reason === this.#unmapped?.message ? this.#unmapped : undefined;
          const verdict = state === 'down' ? 'down' : 'refused';
          this.#down.set(url, unmapped ? faultOfMapping(unmapped) : { verdict, reason });
        }
      }),
    ];
  }

  #failed(error: TicksealError): void {
    const symbols = new Set(this.#stream.symbols);
    const blame = (blamed: Iterable<string>, fault: OperatorFault) => {
      for (const symbol of blamed) if (symbols.has(symbol)) this.#faults.set(symbol, fault);
    };
    if (error instanceof UnverifiedError) {
      // The symbols of an unreadable payload are unknown, so the fault applies to all symbols.
      blame(error.symbols.length === 0 ? symbols : error.symbols, faultOf(error));
    } else if (error instanceof UnsignedMappingError) {
      this.#unmapped = error;
      blame(symbols, faultOfMapping(error));
    } else if (error instanceof UnknownAssetError) {
      blame(error.symbols, { verdict: 'unknown asset', reason: 'none of its services has the symbol' });
      for (const symbol of error.symbols) if (symbols.has(symbol)) this.#missing.add(symbol);
      this.#events.onMissing();
    }
  }
}

/** Returns the fault of a list of IDs. The address is left out, because the operator's name stands beside the reason. */
function faultOfMapping({ message, url }: UnsignedMappingError): OperatorFault {
  return { verdict: 'unverified', reason: message.slice(url.length + 2) };
}

/** Returns the fault of prices that failed a check. */
function faultOf({ checks }: UnverifiedError): OperatorFault {
  const failed = checks.filter(({ status }) => status === 'failed');
  const isOld = failed.every(({ name }) => name === 'age');
  const reasons = failed.map(({ name, reason }) => `${name}: ${reason}`);
  return { verdict: isOld ? 'old' : 'unverified', reason: reasons.join('; ') };
}
