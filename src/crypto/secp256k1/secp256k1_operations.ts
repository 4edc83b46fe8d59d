/** An ECDSA signature over secp256k1 from which the public key can be recovered. */
export interface RecoverableSignature {
  /** r and then s, 32 big-endian bytes each. s is in the lower half of the group order. */
  readonly signature: Uint8Array;
  /** The parity of the nonce point's y coordinate. */
  readonly recovery: 0 | 1;
}

/** The three curve operations, implemented natively or in JavaScript. */
export interface Secp256k1 {
  /**
   * Signs 32 bytes with the deterministic nonce of RFC 6979 and a low s.
   * @param out64 if given, receives the signature
   * @throws RangeError when `key32` is not in 1 .. n-1.
   */
  sign(digest32: Uint8Array, key32: Uint8Array, out64?: Uint8Array): RecoverableSignature;
  /**
   * Returns the 65-byte uncompressed public key whose private key made a signature of `digest32`, or `undefined` when no such key
   * exists. Accepts a high s; see `isCanonicalSignature`. Never throws for a 32-byte digest and a 64-byte signature.
   * @param out65 if given, the key is written into this array, and this array is returned
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
  /**
   * The implementation: `system` is the machine's libsecp256k1, `native` is the library in the npm package, and `noble` is plain
   * JavaScript.
   */
  readonly implementation: 'system' | 'native' | 'noble';
}
