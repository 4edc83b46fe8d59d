import type { MARKET_STATUS_NAMES, MarketStatus } from '../../wire/market_status_codes.js';
import { formatDecimalPrice } from '../verify/decimal_price.js';

/** What `tick.status` says of an asset's market; `undefined`: it was not asked for, or the asset has no market hours. */
export type MarketStatusName = (typeof MARKET_STATUS_NAMES)[MarketStatus];

/** One price of one asset. */
export class Tick {
  readonly #nowMs: () => number;
  readonly symbol: string;
  /** The real price times 10^18. */
  readonly price: bigint;
  /** When the service made it, UNIX nanoseconds; grows with every tick of an asset. */
  readonly timestampNs: bigint;
  /** The checksummed address that signed it: one of the client's signers, unless these are `'unchecked'`. */
  readonly signer: string;
  /** `verified` only when the client was made with signers. */
  readonly verdict: 'verified' | 'recovered';
  readonly status: MarketStatusName | undefined;
  /** Base address of the service that sent it first. */
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

  /** How old it is now, by this machine's clock. */
  get ageMs(): number {
    return this.#nowMs() - Number(this.timestampNs / 1_000_000n);
  }
}
