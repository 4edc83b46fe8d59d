/** The facts about a signature type that the service and its clients share. */
interface SignatureFacts {
  /** The name in texts for people. */
  readonly title: string;
  /** The word for a public key in texts for people. */
  readonly keyName: string;
  /** The form of a public key's text, for the user of a command. */
  readonly keyForm: string;
  /** The number of bytes of a public key. */
  readonly keyBytes: number;
  /** The upper limit of a public key as a number, not included. */
  readonly keyLimit: bigint;
  /**
   * The least number of hex digits by which {@link signatureTypeOfKey} recognizes a public key. If it is less than two digits a byte, the text
   * of a key may lack leading zeros.
   */
  readonly keyDigitsMin: number;
  /** True when a signature has the recovery value `v` after `r` and `s`. */
  readonly hasRecovery: boolean;
  /** True when the hash covers the oracle ID, in `external_asset_id`. Otherwise `external_asset_id` is the symbol. */
  readonly coversOracleId: boolean;
  /** True when a price may be below 0. */
  readonly signsNegativePrices: boolean;
  /** The byte of the type in announcements of keys, where 3 stands for streams. Records of the public log have the same byte. */
  readonly recordByte: number;
}

/** The prime of the field over which the Stark curve is defined (STARK curve definition, StarkEx documentation). */
export const STARK_FIELD_PRIME = (1n << 251n) + 17n * (1n << 192n) + 1n;

/**
 * The signature types by name: Ethereum (secp256k1 and Keccak) and Starknet (Stark curve and Pedersen). The gate, the records, the
 * configuration, the documents, the clients and the page read this table. The position of a type is its byte in statements of taxonomies and
 * in messages between threads and nodes, so a new type comes last. Its functions are in `crypto/signatures/` for the service and in
 * `client/verify/reader_rules.ts` and `client/sign/sign_price.ts` for clients.
 */
export const SIGNATURES = {
  evm: {
    title: 'EVM',
    keyName: 'address',
    keyForm: 'an address (0x and 40 hex digits)',
    keyBytes: 20,
    keyLimit: 1n << 160n,
    keyDigitsMin: 40,
    hasRecovery: true,
    coversOracleId: false,
    signsNegativePrices: true,
    recordByte: 1,
  },
  stark: {
    title: 'Stark',
    keyName: 'public key',
    keyForm: 'a Stark public key (0x and 50 to 64 hex digits, below the field prime)',
    keyBytes: 32,
    keyLimit: STARK_FIELD_PRIME,
    // A key with fewer digits occurs once in 2^52 keys, and a shorter text is an address with digits too many or too few.
    keyDigitsMin: 50,
    hasRecovery: false,
    coversOracleId: true,
    signsNegativePrices: false,
    recordByte: 2,
  },
} as const satisfies Readonly<Record<string, SignatureFacts>>;

export type SignatureType = keyof typeof SIGNATURES;

/** The names of the signature types, in the order of the table. */
export const SIGNATURE_TYPES = Object.keys(SIGNATURES) as [SignatureType, ...SignatureType[]];

/** The pattern of the name of a signature type. */
export const SIGNATURE_TYPE_PATTERN = `(${SIGNATURE_TYPES.join('|')})`;

/** The type where none is named, and the type of the signatures of streaming payloads, which every service makes. */
export const DEFAULT_SIGNATURE_TYPE = 'evm' satisfies SignatureType;

/** Returns a value for each signature type. */
export function bySignatureType<T>(make: (type: SignatureType) => T): Record<SignatureType, T> {
  const entries = SIGNATURE_TYPES.map((type) => [type, make(type)]);
  return Object.fromEntries(entries) as Record<SignatureType, T>;
}

/** The patterns of public keys in hex, by signature type. */
export const KEY_PATTERNS = /* @__PURE__ */ bySignatureType((type) => {
  const { keyDigitsMin, keyBytes } = SIGNATURES[type];
  return new RegExp(`^0x[0-9a-fA-F]{${keyDigitsMin},${2 * keyBytes}}$`);
});

/** Returns the signature type of a public key by its number of digits; `undefined` for a text that is not a key. */
export function signatureTypeOfKey(text: string): SignatureType | undefined {
  return SIGNATURE_TYPES.find((type) => KEY_PATTERNS[type].test(text));
}

/** Returns whether keys of a type are written with all digits. Otherwise tools often drop leading zeros. */
export function hasAllDigits(type: SignatureType): boolean {
  const { keyDigitsMin, keyBytes } = SIGNATURES[type];
  return keyDigitsMin === 2 * keyBytes;
}

/** The number of bytes of a private key, of a hash, and of each number `r` and `s` of a signature. */
export const WORD_BYTES = 32;

/** The number of ASCII characters of the oracle ID that a Stark message contains. */
export const ORACLE_ID_LENGTH = 5;

/** The reasons why an aggregate was signed: `clock` when its period has ended, `delta` when the price moved far enough. */
export const TRIGGERS = ['clock', 'delta'] as const;
