import { evmPriceHash, isHashSignedBy } from '../../crypto/evm.js';
import type { CryptoJobs } from '../../crypto/pool/jobs.js';
import { starkPriceMessage } from '../../crypto/stark/stark.js';
import type { Price } from '../../model/price.js';
import type { LoginClaim } from '../../prices/publisher_login.js';
import { LOGIN_ORACLE_ID, LOGIN_PRICE, LOGIN_SYMBOL } from '../../wire/login_message.js';
import { WORD_BYTES } from '../../wire/signatures.js';

/**
 * Verifies that the publisher signed the login. The signature has the form of a price signature, for a symbol that belongs to no
 * asset.
 * @param jobs does the work on the calling thread: 0.1 ms for EVM, 0.3 ms for Stark with a known key
 */
export function isLoginSigned(
  claim: LoginClaim,
  jobs: Pick<CryptoJobs, 'hashStark' | 'verifyStark'>,
): boolean {
  const { publisher, timestampNs, signature, recovery } = claim;
  if (publisher.signatureType === 'evm') {
    const hash = evmPriceHash(publisher.key, LOGIN_SYMBOL, timestampNs, PRICE);
    return isHashSignedBy(publisher.key, hash, signature, recovery);
  }
  const message = starkPriceMessage(LOGIN_SYMBOL, LOGIN_ORACLE_ID, timestampNs, PRICE)!;
  const [verdict] = jobs.verifyStark([
    {
      ...message,
      msgHash: jobs.hashStark(message),
      r: signature.subarray(0, WORD_BYTES),
      s: signature.subarray(WORD_BYTES),
      publicKey: publisher.key,
    },
  ]);
  return verdict === 'valid';
}

const PRICE = LOGIN_PRICE as Price;
