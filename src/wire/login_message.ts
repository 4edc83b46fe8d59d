// The login of publishers with a signature instead of an access token. The headers contain a signed price of an asset that does
// not exist.

/** The names of the headers in lower case. Each header occurs once in a request. */
export const LOGIN_HEADERS = {
  /** The EVM address, or the x coordinate of a Stark public key, in `0x` hex. */
  publicKey: 'x-public-key',
  /** The time in UNIX nanoseconds, in decimal. The signature covers only the whole second. */
  timestamp: 'x-timestamp',
  /** The signature: `0x`, then r and s with 64 digits each, and for EVM also v with 2 digits. */
  signature: 'x-signature',
  signatureType: 'x-signature-type',
} as const;

/** The symbol that the login signs. No asset may have this symbol, because a login would otherwise be a price of that asset. */
export const LOGIN_SYMBOL = 'STORKAUTH';

/** The price that the login signs. */
export const LOGIN_PRICE = 103_109_111_114_107_119_111_114_108_100n;

/** The oracle ID that a login with a Stark key signs. */
export const LOGIN_ORACLE_ID = 'sauth';
