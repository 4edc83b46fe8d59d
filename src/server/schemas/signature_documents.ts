import { SIGNATURE_TYPES, type SignatureType } from '../../wire/signatures.js';

/** The texts of the documents about a signature type. */
interface SignatureDocument {
  /** The curve and the hash. */
  readonly rule: string;
  /** The curve, in a sentence. */
  readonly curve: string;
  /** The public key: in a list, as the description of a field, and in the sentence about logins. */
  readonly key: string;
  readonly keyField: string;
  readonly loginKey: string;
  /** The description of `external_asset_id`. */
  readonly externalId: string;
  /** An update of a publish message. */
  readonly update: {
    readonly oracle_id: string;
    readonly asset_id: string;
    readonly trigger: string;
    readonly signed_price: object;
  };
}

/** The texts of each signature type. */
export const SIGNATURE_DOCUMENTS = {
  evm: {
    rule: 'ECDSA on secp256k1 over Keccak-256',
    curve: 'secp256k1',
    key: 'the address',
    keyField: 'Address',
    loginKey: 'the address of an EVM key',
    externalId: 'The asset ID itself',
    update: {
      oracle_id: 'czowx',
      asset_id: 'BTCUSD',
      trigger: 'clock',
      signed_price: {
        publisher_key: '0x99e295e85cb07c16b7bb62a44df532a7f2620237',
        external_asset_id: 'BTCUSD',
        signature_type: 'evm',
        price: '72147681412670819000000',
        timestamped_signature: {
          signature: {
            r: '0x14e378dcf486b15c157fb6af80fc275b895bd1cae818fc4597a6b4a1571a831e',
            s: '0x79b4823a159988c04576ff71bc3ca168a631ac666094b0f4157e59b2892f6490',
            v: '0x1b',
          },
          timestamp: '1710191092123456789',
          msg_hash: '0x4a8e2a9c736a3a2e315facf28ba95e126e37b57646481078e4f0809262c6560b',
        },
      },
    },
  },
  stark: {
    rule: 'ECDSA on the Stark curve over Pedersen',
    curve: 'the Stark curve',
    key: "the public key's x coordinate",
    keyField: "The public key's x coordinate",
    loginKey: 'the x coordinate of a Stark public key',
    externalId: 'Asset ID and oracle ID in hex',
    update: {
      oracle_id: 'czowx',
      asset_id: 'DYDXUSD',
      trigger: 'clock',
      signed_price: {
        publisher_key: '0x418d3fd8219a2cf32a00d458f61802d17f01c5bcde5a4f82008ee4a7c8e9a06',
        external_asset_id: '0x44594458555344000000000000000000637a6f7778',
        signature_type: 'stark',
        price: '3335950349880000000',
        timestamped_signature: {
          signature: {
            r: '0x60bbbb4142bca69a5278ecccb59964e3449e43915b02e5c729b9752a16309ac',
            s: '0x4cdbe54b985f6fb4495398f94554883ead7cbb983597dc7ea8b9e32dfe95c27',
          },
          timestamp: '1708940577123456789',
          msg_hash: '0x7cc1cf795d076cfff8b5920adb2dcc0d13813ed4519220a36d693e6084abe1c',
        },
      },
    },
  },
} as const satisfies Readonly<Record<SignatureType, SignatureDocument>>;

/** Returns the text of each type behind its name: `` `evm`: the address. `stark`: … `` */
export function textOfEach(textOf: (document: SignatureDocument) => string): string {
  return SIGNATURE_TYPES.map((type) => `\`${type}\`: ${textOf(SIGNATURE_DOCUMENTS[type])}`).join('. ');
}

/** Returns the name of a type in names of components and channels, such as `Evm`. */
export function componentName<T extends SignatureType>(type: T): Capitalize<T> {
  return (type[0]!.toUpperCase() + type.slice(1)) as Capitalize<T>;
}
