import { nativePriceCurves } from '../crypto/price_curves.js';
import { createPriceSigner as createPortableSigner } from './index.js';
import type { PriceSigner, PriceToSign, PriceUpdate, SignerOptions } from './sign_price.js';

/** The client as Node loads it from this project's own package: the same, but it signs with the service's own curves. */

export * from './index.js';

/** As in `sign_price.ts`, with native secp256k1 where this platform has it, and tables of the Stark curve's points. */
export function createPriceSigner(options: SignerOptions): PriceSigner {
  return createPortableSigner({ ...options, curves: { ...nativePriceCurves, ...options.curves } });
}

/** Signs one price; whoever signs many keeps a {@link createPriceSigner}. */
export function signPrice(options: SignerOptions & PriceToSign): PriceUpdate {
  return createPriceSigner(options).sign(options);
}
