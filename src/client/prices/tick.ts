import type { MARKET_STATUS_NAMES, MarketStatus } from '../../wire/market_status_codes.js';
import { formatDecimalPrice } from '../verify/decimal_price.js';

/** The name of a market's status in `tick.status`; `undefined`: not requested, or the asset has no market hours. */
export type MarketStatusName = (typeof MARKET_STATUS_NAMES)[MarketStatus];

/** A price of an asset. */
export class Tick {
  readonly #nowMs: () => number;
  readonly symbol: string;
  /** The real price times 10^18. */
  readonly price: bigint;
  /** The time at which the service made it, UNIX nanoseconds; grows with each tick of an asset. */
  readonly timestampNs: bigint;
  /** The checksummed address that signed the price: one of the client's signers, unless these are `'unchecked'`. */
  readonly signer: string;
  /** `verified` only if the client was created with signers. */
  readonly verdict: 'verified' | 'recovered';
  readonly status: MarketStatusName | undefined;
  /** Base address of the service that sent the price first. */
  readonly url: string;

  constructor(fields: Omit<Tick, 'decimal' | 'ageMs'>, nowMs: () => number) {
    this.symbol = fields.symbol;
    this.price = fields.price;
    this.timestampNs = fields.timestampNs;
    this.signer = fields.signer;
    this.verdict = fields.verdict;
    this.status = fields.status;
    this.url = fields.url;
    this.#nowMs = nowMs;
  }

  /** The exact real price, such as `61000.5`. */
  get decimal(): string {
    return formatDecimalPrice(this.price);
  }

  /** The present age, by this machine's clock. */
  get ageMs(): number {
    return this.#nowMs() - Number(this.timestampNs / 1_000_000n);
  }
}
