import { EvmVerifier } from '../crypto/evm_verifier.js';
import { nativePriceCurves, nativeRecoverAddress } from '../crypto/native_price_curves.js';
import { LineVerifier, type VerifyEvm } from '../crypto/pool/line_verifier.js';
import { NODE } from './connect/node_platform.js';
import type { Platform } from './connect/platform.js';

/**
 * Returns Node's platform with the service's own curves.
 * @param verifyEvm verifies the signatures of ranges, on other threads if wanted. Default: on the calling thread
 */
export function nativePlatform(verifyEvm?: VerifyEvm): Platform {
  let verifier: LineVerifier | undefined;
  return {
    ...NODE,
    curves: nativePriceCurves,
    recoverAddress: nativeRecoverAddress,
    verifyLines(lines) {
      // The tables take 19 MB, so the first range makes the tables.
      verifier ??= new LineVerifier(verifyEvm ?? verifyHere());
      return verifier.verify(lines);
    },
  };
}

function verifyHere(): VerifyEvm {
  const tables = new EvmVerifier();
  return (jobs) => tables.verify(jobs);
}
