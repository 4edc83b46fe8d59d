/** The signature types. A price is signed by the rules of Ethereum (secp256k1 and Keccak) or of Starknet (Stark curve and Pedersen). */
export const SIGNATURE_TYPES = ['evm', 'stark'] as const;
export type SignatureType = (typeof SIGNATURE_TYPES)[number];

/** The number of bytes of a public key: an EVM address, or the x coordinate of a Stark key. */
export const PUBLIC_KEY_BYTES = { evm: 20, stark: 32 } as const;

/** The prime of the field over which the Stark curve is defined (STARK curve definition, StarkEx documentation). */
export const STARK_FIELD_PRIME = (1n << 251n) + 17n * (1n << 192n) + 1n;

/** The number of bytes of a private key, of a hash, and of each number `r` and `s` of a signature. */
export const WORD_BYTES = 32;

/** The number of ASCII characters of the oracle ID that a Stark message contains. */
export const ORACLE_ID_LENGTH = 5;

/** The reasons why an aggregate was signed: `clock` when its period has ended, `delta` when the price moved far enough. */
export const TRIGGERS = ['clock', 'delta'] as const;
