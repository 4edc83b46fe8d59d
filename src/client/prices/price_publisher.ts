/// <reference lib="esnext.disposable" preserve="true" />
import type { RequestedAck } from '../../wire/publish_message.js';
import { DEFAULT_SIGNATURE_TYPE, type SignatureType } from '../../wire/signatures.js';
import { createPriceSigner, type PriceSigner, type PriceUpdate, parseSecretKey } from '../sign/sign_price.js';
import { parseDecimalPrice } from '../verify/decimal_price.js';
import type { ClientContext } from './client_context.js';
import { Publisher, type PublishResult } from './publisher.js';
import { bySymbol } from './symbol_table.js';

/** The publisher's key and the settings of publishing. */
export interface PublishOptions {
  /** The secret key: 32 bytes, or hex. */
  readonly key: string | Uint8Array;
  /** The curve of the key. The curve also selects the path. Default: `evm`. */
  readonly signatureType?: SignatureType | undefined;
  /** The 5 ASCII characters that identify the publisher at the service. */
  readonly oracleId: string;
  /**
   * The time at which the service answers. `true`: after the service judged the message. `durable`: after the effect of the
   * message is on disk. Default: `true`.
   */
  readonly ack?: RequestedAck | undefined;
}

/** The verdict of the service on a published price. */
export type PublishVerdict =
  | {
      /**
       * The verdict. `accepted`: the service accepts the price. `rejected`: the service refuses the price. `failed`: the
       * price was not sent, or no answer came. If no answer came, the service may have accepted the price.
       */
      readonly status: 'accepted';
    }
  | {
      readonly status: 'rejected';
      /** The service's reason, or the reason why the answer is missing. */
      readonly reason: string;
    }
  | { readonly status: 'failed'; readonly reason: string };

/**
 * The prices of a message, by symbol. A price is decimal text such as `61000.5`, or the real price times 10^18 as a bigint.
 */
export type PricesToPublish = Readonly<Record<string, string | bigint>>;

/** The time for which prices wait for a connection before they fail. */
const OPEN_DELAY_MS_MAX = 10_000;

/**
 * The largest time by which the last message may be ahead of the clock. A larger difference means that the clock was set
 * back, because no service accepts a price so far in the future.
 */
const CLOCK_STEP_NS = 2_000_000_000n;

/**
 * Publisher that signs prices with its key and sends them to the first connected service; {@link Client} makes publishers.
 */
export class PricePublisher {
  readonly #context: ClientContext;
  readonly #signer: PriceSigner;
  readonly #publishers: readonly Publisher[];
  /** The time of the last message. A service refuses an update that is not newer than the update before it. */
  #lastNs = 0n;

  /** @internal */
  constructor(options: PublishOptions, context: ClientContext) {
    const { key, signatureType = DEFAULT_SIGNATURE_TYPE, oracleId, ack = 'true' } = options;
    const { platform } = context;
    if (!platform.sendsHeaders) throw new TypeError('a browser cannot publish: it sends no headers');
    const secretKey = typeof key === 'string' ? parseSecretKey(key) : key;
    if (secretKey === undefined) throw new RangeError('key is not hex of at most 32 bytes');
    this.#signer = createPriceSigner({ signatureType, secretKey, oracleId, curves: platform.curves });
    this.#context = context;
    this.#publishers = context.services.map(
      (service) => new Publisher({ ...context.connectionTo(service), signatureType, ack }),
    );
    context.open.add(this);
  }

  /** The public key as the service writes it: an EVM address, or the x coordinate of a Stark key. */
  get publicKey(): string {
    return this.#signer.publicKey;
  }

  /**
   * Sends prices in a single message, signed at the time of sending. Waits up to 10 s for a connection and up to 10 s for the
   * answer. Never sends a message twice.
   * @returns symbol to verdict
   * @throws RangeError for a text that is not a decimal price, or a price outside the range of the signature type
   * @throws TypeError for a price that is a number
   */
  async publish(prices: PricesToPublish): Promise<Record<string, PublishVerdict>> {
    const scaled = Object.entries(prices).map(
      ([symbol, price]) => [symbol, scaledPrice(symbol, price)] as const,
    );
    const problem = await this.#waitForConnection();
    const publisher = this.#publishers.find(({ isOpen }) => isOpen);
    const result: Omit<PublishResult & { status: 'failed' }, 'traceId'> | PublishResult =
      publisher === undefined
        ? { status: 'failed', reason: problem ?? 'there is no connection' }
        : await publisher.publish(this.#sign(scaled));
    return bySymbol(scaled.map(([symbol]) => [symbol, verdictOf(result, symbol)]));
  }

  /** Ends the connections permanently, and resolves when they are closed. Unanswered messages fail. */
  async close(): Promise<void> {
    this.#context.open.delete(this);
    await Promise.all(this.#publishers.map((publisher) => publisher.close()));
  }

  /** Ends the connections at the end of an `await using` block, like `close`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #sign(prices: readonly (readonly [symbol: string, price: bigint])[]): PriceUpdate[] {
    const nowNs = BigInt(this.#context.platform.nowMs()) * 1_000_000n;
    const isPutBack = this.#lastNs - nowNs > CLOCK_STEP_NS;
    this.#lastNs = nowNs > this.#lastNs || isPutBack ? nowNs : this.#lastNs + 1n;
    const timestampNs = this.#lastNs;
    return prices.map(([symbol, price]) => this.#signer.sign({ symbol, price, timestampNs }));
  }

  /** Waits for the first connection. @returns the reason if no connection follows */
  async #waitForConnection(): Promise<string | undefined> {
    let cancel: () => void = () => {};
    const late = new Promise<string>((resolve) => {
      const reason = `no connection within ${OPEN_DELAY_MS_MAX} ms`;
      cancel = this.#context.platform.schedule(() => resolve(reason), OPEN_DELAY_MS_MAX);
    });
    const opened = Promise.any(this.#publishers.map((publisher) => publisher.opened())).then(
      () => undefined,
      ({ errors }: AggregateError) => (errors[0] as Error).message,
    );
    const problem = await Promise.race([opened, late]);
    cancel();
    return problem;
  }
}

function scaledPrice(symbol: string, price: string | bigint): bigint {
  if (typeof price === 'bigint') return price;
  // A price that was given as a number has already been rounded.
  if (typeof price !== 'string')
    throw new TypeError(`the price of ${symbol} must be decimal text or a bigint, not a ${typeof price}`);
  const scaled = parseDecimalPrice(price);
  if (scaled === undefined)
    throw new RangeError(`the price of ${symbol} is not a decimal number: "${price}"`);
  return scaled;
}

function verdictOf(
  result: PublishResult | { readonly status: 'failed'; readonly reason: string },
  symbol: string,
): PublishVerdict {
  if (result.status === 'failed') return { status: 'failed', reason: result.reason };
  if (result.status === 'sent') return { status: 'failed', reason: 'no answer was asked for' };
  const reason = result.rejected[symbol];
  if (reason !== undefined) return { status: 'rejected', reason };
  if (result.accepted.includes(symbol)) return { status: 'accepted' };
  return { status: 'failed', reason: 'the answer does not name it' };
}
