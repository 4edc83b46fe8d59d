import { nativePriceCurves, nativeRecoverAddress } from '../crypto/native_price_curves.js';
import { LineVerifier } from '../crypto/pool/line_verifier.js';
import { NODE } from './connect/node_platform.js';
import type { Platform } from './connect/platform.js';

/** Returns Node's platform with the service's own curves. */
export function nativePlatform(): Platform {
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
