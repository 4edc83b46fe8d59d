import { eip191, evmAddress, evmPriceHash } from '../../../src/crypto/evm.js';
import type { EvmVerifyJob } from '../../../src/crypto/evm_verifier.js';
import { createCryptoJobs } from '../../../src/crypto/pool/jobs.js';
import { secp256k1 } from '../../../src/crypto/secp256k1/secp256k1.js';
import type { Price } from '../../../src/model/price.js';
import type { TimeNs } from '../../../src/model/time.js';

export const KEY = Buffer.alloc(32, 3);
const ADDRESS = evmAddress(secp256k1.publicKey(KEY));
export const inline = createCryptoJobs();

/** Jobs of which every third is damaged. */
export const evmJobs: EvmVerifyJob[] = Array.from({ length: 200 }, (_, i) => {
  const msgHash = evmPriceHash(ADDRESS, 'BTCUSD', BigInt(i * 1e9) as TimeNs, 10n as Price);
  const { signature, recovery } = secp256k1.sign(eip191(msgHash), KEY);
  return { msgHash, signature, recovery, address: i % 3 === 0 ? Buffer.alloc(20, i) : ADDRESS };
});
export const evmVerdicts = inline.verifyEvm(evmJobs);
