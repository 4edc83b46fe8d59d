// The login of publishers with a signature instead of an access token: the headers sign a price of an asset that does not exist.

/** The headers, in lower case: each stands once in a request. */
export const LOGIN_HEADERS = {
  /** EVM address, or the x coordinate of a Stark public key: `0x` hex. */
  publicKey: 'x-public-key',
  /** UNIX nanoseconds in decimal; the signature covers the whole second. */
  timestamp: 'x-timestamp',
  /** `0x`, r and s of 64 digits each, and for EVM v of 2. */
  signature: 'x-signature',
  signatureType: 'x-signature-type',
} as const;

/** The symbol that the login signs. No asset may have it, or a login would be a price of that asset. */
export const LOGIN_SYMBOL = 'STORKAUTH';

/** The price that is signed. */
export const LOGIN_PRICE = 103_109_111_114_107_119_111_114_108_100n;

/** The oracle ID that a Stark key signs. */
export const LOGIN_ORACLE_ID = 'sauth';
