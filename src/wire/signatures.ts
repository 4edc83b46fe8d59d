/** The signature types, by whose rules a price is signed: Ethereum's (secp256k1 and Keccak) or Starknet's (Stark curve and Pedersen). */
export const SIGNATURE_TYPES = ['evm', 'stark'] as const;
export type SignatureType = (typeof SIGNATURE_TYPES)[number];

/** Bytes of a public key: an EVM address, or the x coordinate of a Stark key. */
export const PUBLIC_KEY_BYTES = { evm: 20, stark: 32 } as const;

/** Bytes of a private key, of a hash, and of each of the signature's numbers `r` and `s`. */
export const WORD_BYTES = 32;

/** ASCII characters of the oracle ID that a Stark message contains. */
export const ORACLE_ID_LENGTH = 5;

/** The ways in which an aggregate was computed: `calculation_alg.type`. */
export const AGGREGATION_TYPES = ['median', 'average', 'weighted average'] as const;
export type AggregationType = (typeof AGGREGATION_TYPES)[number];

/** The reasons why an aggregate was signed: its period is over, or the price moved far enough. */
export const TRIGGERS = ['clock', 'delta'] as const;
