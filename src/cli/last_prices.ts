import type { PriceSigner, PriceToSign, PriceUpdate } from '../client/sign/sign_price.js';

/** The largest number of assets in the store of last prices. */
export const LAST_PRICES_MAX = 10_000;
/** The largest number of prices in a message. Such a message has about 80 kB, far below the limit of a service. */
const MESSAGE_PRICES_MAX = 100;

/** The last price of each asset. The publisher signs these prices again at an interval. */
export class LastPrices {
  readonly #bySymbol = new Map<string, PriceToSign>();

  get isEmpty(): boolean {
    return this.#bySymbol.size === 0;
  }

  /**
   * Replaces the asset's last price.
   * @returns `false` when the store has no room for another asset
   */
  keep(price: PriceToSign): boolean {
    if (this.#bySymbol.size >= LAST_PRICES_MAX && !this.#bySymbol.has(price.symbol)) return false;
    this.#bySymbol.set(price.symbol, price);
    return true;
  }

  /**
   * Signs every price at `timestampNs`, with the trigger `clock`.
   * @returns the updates of each message
   */
  sign(signer: PriceSigner, timestampNs: bigint): PriceUpdate[][] {
    const messages: PriceUpdate[][] = [];
    for (const price of this.#bySymbol.values()) {
      if ((messages.at(-1)?.length ?? MESSAGE_PRICES_MAX) === MESSAGE_PRICES_MAX) messages.push([]);
      messages.at(-1)!.push(signer.sign({ ...price, timestampNs, trigger: 'clock' }));
    }
    return messages;
  }
}
