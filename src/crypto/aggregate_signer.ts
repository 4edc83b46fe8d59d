import type { SignatureType } from '../model/asset.js';
import { inForceAt, type KeySpan, type PrivateKey, timedKeysOf } from '../model/key_schedule.js';
import {
  msgHashOf,
  type PublisherPrice,
  type SignedAggregate,
  type UnsignedAggregate,
} from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import { bySignatureType } from '../wire/signatures.js';
import { algorithmChecksum } from './algorithm_definition.js';
import { merkleRoot } from './merkle.js';
import type { CryptoPool } from './pool/pool.js';
import { type SignedParts, whenDone } from './signatures/signature_rules.js';
import { SIGNATURE_RULES } from './signatures/signature_table.js';

/** The service's private keys, 32 bytes each. The aggregates of a signature type require its key. */
export type ServiceKeys = Readonly<Partial<Record<SignatureType, PrivateKey>>>;

/** A public key, and the time span in which its private key signs. */
export interface PublicKey extends KeySpan {
  /** For `evm` the address in the mixed case of EIP-55; for `stark` the x coordinate of the public key. */
  readonly text: string;
}

/** Signs aggregates with the service's keys. */
export interface AggregateSigner {
  /**
   * The service's public keys by signature type, in the order of their time spans. The list of a type without keys is empty.
   */
  readonly publicKeys: Readonly<Record<SignatureType, readonly PublicKey[]>>;
  /**
   * Signs with the key whose time span contains the time of the aggregates.
   * @param aggregates the aggregates to sign; all have the signature type `type` and the same time
   */
  sign(
    type: SignatureType,
    aggregates: readonly UnsignedAggregate[],
  ): readonly SignedAggregate[] | Promise<readonly SignedAggregate[]>;
}

export function createAggregateSigner(
  keys: ServiceKeys,
  oracleId: string,
  pool: CryptoPool,
): AggregateSigner {
  const keysOf = bySignatureType((type) =>
    timedKeysOf(keys[type]).map((timed) => {
      const publicKey = SIGNATURE_RULES[type].publicKey(timed.key);
      return { ...timed, publicKey, text: SIGNATURE_RULES[type].keyText(publicKey), oracleId };
    }),
  );
  return {
    publicKeys: bySignatureType((type) => keysOf[type].map(publicPart)),
    sign(type, aggregates) {
      const key = inForceAt(keysOf[type], aggregates[0]!.signedAtNs);
      const roots = aggregates.map(rootOf);
      const messages = aggregates.map(({ asset, price, signedAtNs }, i) => ({
        symbol: asset.symbol,
        signedAtNs,
        price,
        merkleRoot: roots[i]!,
        checksum: Buffer.from(algorithmChecksum(asset.aggregation), 'hex'),
      }));
      return whenDone(SIGNATURE_RULES[type].sign(pool, key, messages), (signed) =>
        aggregates.map((aggregate, i) => toRecord(aggregate, signed[i]!, key.text, roots[i]!)),
      );
    },
  };
}

function publicPart({ text, fromNs, untilNs }: PublicKey): PublicKey {
  return { text, fromNs, untilNs };
}

function rootOf({ inputs }: UnsignedAggregate): Buffer {
  return merkleRoot(inputs.map(msgHashOf));
}

function toRecord(
  { asset, trigger, price, inputs, signedAtNs }: UnsignedAggregate,
  { msgHash, r, s, v }: SignedParts,
  publicKey: string,
  merkleRoot: Buffer,
): SignedAggregate {
  return {
    symbol: asset.symbol,
    trigger,
    price,
    timestampNs: newestTime(inputs),
    signedAtNs,
    signatureType: asset.signatureType,
    publicKey,
    msgHash,
    r,
    s,
    v,
    merkleRoot,
    algorithm: asset.aggregation,
    inputs,
  };
}

function newestTime(inputs: readonly PublisherPrice[]): TimeNs {
  return inputs.reduce(
    (latest, { timestampNs }) => (timestampNs > latest ? timestampNs : latest),
    0n as TimeNs,
  );
}
