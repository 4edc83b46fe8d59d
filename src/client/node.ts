import { nativePriceCurves, nativeRecoverAddress } from '../crypto/native_price_curves.js';
import { LineVerifier } from '../crypto/pool/line_verifier.js';
import { Client } from './client.js';
import { NODE } from './connect/node_platform.js';
import type { Platform } from './connect/platform.js';
import { createPriceSigner as createPortableSigner } from './node_index.js';
import type { ClientOptions } from './prices/client_context.js';
import { QuorumClient } from './quorum/quorum_client.js';
import type { QuorumClientOptions } from './quorum/quorum_options.js';
import type { PriceSigner, PriceToSign, PriceUpdate, SignerOptions } from './sign/sign_price.js';

/**
 * The client that Node loads from this project's own package. The only difference from `node_index.ts` is that this client
 * signs, and verifies aggregates, with the service's own curves.
 */

export * from './node_index.js';

/**
 * Makes a signer like `sign_price.ts` does. This signer uses native secp256k1 if the platform has it, and tables of the Stark
 * curve's points.
 */
export function createPriceSigner(options: SignerOptions): PriceSigner {
  return createPortableSigner({ ...options, curves: { ...nativePriceCurves, ...options.curves } });
}

/** Signs a single price. A caller that signs many prices keeps a signer of {@link createPriceSigner}. */
export function signPrice(options: SignerOptions & PriceToSign): PriceUpdate {
  return createPriceSigner(options).sign(options);
}

/**
 * Makes a client of one or more services, or with `quorum` a client that compares the prices of several operators.
 * @throws TypeError or RangeError for wrong options
 */
export function createClient(options: ClientOptions): Client;
export function createClient(options: QuorumClientOptions): QuorumClient;
export function createClient(options: ClientOptions | QuorumClientOptions): Client | QuorumClient {
  const platform = nativePlatform();
  return 'quorum' in options ? new QuorumClient(options, platform) : new Client(options, platform);
}

/** Returns Node's platform with the service's own curves. */
function nativePlatform(): Platform {
  let verifier: LineVerifier | undefined;
  return {
    ...NODE,
    curves: nativePriceCurves,
    recoverAddress: nativeRecoverAddress,
    verifyLines(lines) {
      // The tables take 19 MB, so the first range makes the tables.
      verifier ??= new LineVerifier();
      return verifier.verify(lines);
    },
  };
}
