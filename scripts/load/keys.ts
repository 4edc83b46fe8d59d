import { createHash } from 'node:crypto';
import { evmAddress } from '../../src/crypto/evm.js';
import { secp256k1 } from '../../src/crypto/secp256k1/secp256k1.js';
import { fieldNumber } from '../../src/crypto/stark/stark.js';
import { starkPublicKey } from '../../src/crypto/stark/stark_ecdsa.js';
import type { SignatureType } from '../../src/model/asset.js';

/** A publisher's key pair. Every run uses the same key pairs. */
export interface PublisherKeys {
  /** The secret key of 32 bytes. */
  readonly secretKey: Buffer;
  /** The 20 bytes of an EVM address, or the 32 bytes of a Stark public key. */
  readonly key: Buffer;
}

/** The service's key for aggregates and `signed_ecdsa` payloads. Every run uses the same key. */
export const SERVICE_KEY = secretKeyOf('service');

export function publisherKeys(signatureType: SignatureType, publisher: number): PublisherKeys {
  const secretKey = secretKeyOf(`${signatureType} ${publisher}`);
  const key =
    signatureType === 'evm'
      ? evmAddress(secp256k1.publicKey(secretKey))
      : starkPublicKey(fieldNumber(secretKey));
  return { secretKey, key };
}

/** Returns a key that is valid for both curves. The function clears the top bits, because Stark's order is a little above 2^251. */
function secretKeyOf(name: string): Buffer {
  const key = createHash('sha256').update(`tickseal bench, ${name}`).digest();
  key[0]! &= 0x07;
  return key;
}
