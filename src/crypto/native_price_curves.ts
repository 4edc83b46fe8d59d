import { WORD_BYTES } from '../wire/signatures.js';
import { keccak256 } from './keccak.js';
import { secp256k1 } from './secp256k1/secp256k1.js';
import { Pedersen } from './stark/pedersen.js';
import { fieldNumber } from './stark/stark.js';
import { starkSign } from './stark/stark_ecdsa.js';

const pedersen = new Pedersen();

/**
 * The curves with which the service signs, in the form that the `curves` option of the client's price signer takes. Keys have 32
 * bytes.
 */
export const nativePriceCurves = {
  keccak256,
  signDigest(digest: Uint8Array, secretKey: Uint8Array) {
    const { signature, recovery } = secp256k1.sign(digest, secretKey);
    const view = new DataView(signature.buffer, signature.byteOffset);
    return { r: wordAt(view, 0), s: wordAt(view, WORD_BYTES), recovery };
  },
  pedersenHash: (x: bigint, y: bigint) => pedersen.hash(x, y),
  starkSign: (msgHash: bigint, secretKey: Uint8Array) => starkSign(msgHash, fieldNumber(secretKey)),
};

/** Returns the 20 bytes of the address whose key signed `digest`, or `undefined` when no key fits the signature. */
export function nativeRecoverAddress(
  digest: Uint8Array,
  { r, s, recovery }: { readonly r: bigint; readonly s: bigint; readonly recovery: 0 | 1 },
): Uint8Array | undefined {
  const signature = Buffer.from(
    `${r.toString(16).padStart(64, '0')}${s.toString(16).padStart(64, '0')}`,
    'hex',
  );
  const key = secp256k1.recover(digest, signature, recovery);
  return key === undefined ? undefined : Uint8Array.from(keccak256(key.subarray(1)).subarray(12));
}

/** Returns a big-endian integer of 32 bytes. This takes half the time of `BigInt` with the digits in hex. */
function wordAt(view: DataView, offset: number): bigint {
  return (
    (view.getBigUint64(offset) << 192n) |
    (view.getBigUint64(offset + 8) << 128n) |
    (view.getBigUint64(offset + 16) << 64n) |
    view.getBigUint64(offset + 24)
  );
}
