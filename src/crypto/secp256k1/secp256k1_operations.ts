/** An ECDSA signature over secp256k1 from which the public key can be recovered. */
export interface RecoverableSignature {
  /** r then s, 32 big-endian bytes each; s is in the lower half of the group order. */
  readonly signature: Uint8Array;
  /** The parity of the nonce point's y coordinate. */
  readonly recovery: 0 | 1;
}

/** The three curve operations, native or in JavaScript. */
export interface Secp256k1 {
  /**
   * Signs 32 bytes with the deterministic nonce of RFC 6979 and low s.
   * @param out64 when given, the signature is written there
   * @throws RangeError when `key32` is not in 1 .. n-1.
   */
  sign(digest32: Uint8Array, key32: Uint8Array, out64?: Uint8Array): RecoverableSignature;
  /**
   * Returns the 65-byte uncompressed public key that made a signature over `digest32`, or `undefined` when there is none. Accepts
   * a high s; see `isCanonicalSignature`. Never throws for a 32-byte digest and a 64-byte signature.
   * @param out65 when given, it is written and returned
   */
  recover(
    digest32: Uint8Array,
    signature64: Uint8Array,
    recovery: 0 | 1,
    out65?: Uint8Array,
  ): Uint8Array | undefined;
  /**
   * Returns the 65-byte uncompressed public key of a private key.
   * @throws RangeError when `key32` is not in 1 .. n-1.
   */
  publicKey(key32: Uint8Array): Uint8Array;
  /** `system` is the machine's libsecp256k1, `native` the one in the npm package, `noble` plain JavaScript. */
  readonly implementation: 'system' | 'native' | 'noble';
}
