import * as secp256k1 from '@noble/secp256k1';
import { test } from 'tap';
import { signDigest } from '../../../src/client/sign/evm_sign.js';
import { evmAddress, recoverAddress } from '../../../src/client/verify/evm_signatures.js';
import { keccak256 } from '../../../src/client/verify/keccak_sponge.js';

const bytes = (seed: number) => keccak256(Uint8Array.of(seed));

test('the recovered address is that of the key, and that of the library for the other recovery ID', async (t) => {
  const digests = [new Uint8Array(32), new Uint8Array(32).fill(0xff), ...[1, 2, 3, 4].map(bytes)];
  for (const [i, digest] of digests.entries()) {
    const secretKey = bytes(100 + i);
    const signature = signDigest(digest, secretKey);
    t.same(recoverAddress(digest, signature), evmAddress(secretKey));
    const recovery = signature.recovery === 0 ? 1 : 0;
    const other = new secp256k1.Signature(signature.r, signature.s, recovery).toBytes('recovered');
    const key = secp256k1.recoverPublicKey(other, digest, { prehash: false, isCompressed: false });
    t.same(recoverAddress(digest, { ...signature, recovery }), keccak256(key.subarray(1)).subarray(12));
  }
});

test('a signature that fits no key has no address', async (t) => {
  // 5 is not the x coordinate of a point of the curve.
  t.equal(recoverAddress(bytes(1), { r: 5n, s: 1n, recovery: 0 }), undefined);
  // With r the x coordinate of the generator and s equal to the digest, the key would be the point at infinity.
  const { x } = secp256k1.Point.BASE.toAffine();
  t.equal(recoverAddress(Uint8Array.of(...new Uint8Array(31), 7), { r: x, s: 7n, recovery: 0 }), undefined);
});
