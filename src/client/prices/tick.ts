import { MARKET_STATUS_NAMES, type MarketStatus } from '../../wire/market_status_codes.js';
import type { AttributeValues } from '../../wire/stream_attributes.js';
import { formatDecimalPrice } from '../verify/decimal_price.js';

/** The status of an asset's market: `closed`, `regular hours`, `extended hours` or `after hours`. */
export type MarketStatusName = (typeof MARKET_STATUS_NAMES)[MarketStatus];

/** @internal */
export type TickFields = Omit<Tick, 'status' | 'decimal' | 'ageMs' | 'backfilled'>;

/** A verified price of one asset. */
export class Tick {
  readonly #nowMs: () => number;
  /** The symbol of the asset, such as `BTCUSD`. */
  readonly symbol: string;
  /** The real price times 10^18. */
  readonly price: bigint;
  /** The time at which the service made the price, in UNIX nanoseconds. The time grows with every tick of an asset. */
  readonly timestampNs: bigint;
  /**
   * The checksummed address that signed the price. The address belongs to the client's signers, except with `'unchecked'`.
   */
  readonly signer: string;
  /** `verified` if the client has signers; `recovered` with `'unchecked'`. */
  readonly verdict: 'verified' | 'recovered';
  /** The attributes that are signed with the price. Only attributes that the stream requested are present. */
  readonly attributes: AttributeValues;
  /** The base address of the service that sent the price first. */
  readonly url: string;
  /** `true` for a tick of the option `backfill`: an aggregate that was signed in a gap of the stream, read after the gap. */
  readonly backfilled: boolean;

  /** @internal */
  constructor(fields: TickFields, nowMs: () => number, backfilled = false) {
    this.symbol = fields.symbol;
    this.price = fields.price;
    this.timestampNs = fields.timestampNs;
    this.signer = fields.signer;
    this.verdict = fields.verdict;
    this.attributes = fields.attributes;
    this.url = fields.url;
    this.backfilled = backfilled;
    this.#nowMs = nowMs;
  }

  /** The status of the market; `undefined` without the attribute `ms`, and for an asset that has no market hours. */
  get status(): MarketStatusName | undefined {
    const { marketStatus } = this.attributes;
    return marketStatus == null ? undefined : MARKET_STATUS_NAMES[marketStatus as MarketStatus];
  }

  /** The exact real price as decimal text, such as `61000.5`. */
  get decimal(): string {
    return formatDecimalPrice(this.price);
  }

  /**
   * The current age in whole milliseconds. For a stream, the client estimates the service's clock from the arrival of frames. For
   * an aggregate, the age is by this machine's clock.
   */
  get ageMs(): number {
    return Math.round(this.#nowMs() - Number(this.timestampNs / 1_000n) / 1_000);
  }
}
