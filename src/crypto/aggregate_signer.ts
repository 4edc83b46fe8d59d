import type { SignatureType } from '../model/asset.js';
import { toHex } from '../model/hex.js';
import { inForceAt, type KeySpan, type PrivateKey, timedKeysOf } from '../model/key_schedule.js';
import {
  msgHashOf,
  type PublisherPrice,
  type SignedAggregate,
  type UnsignedAggregate,
} from '../model/signed_price.js';
import type { TimeNs } from '../model/time.js';
import { algorithmChecksum } from './algorithm_definition.js';
import { checksumAddress } from './checksum_address.js';
import { eip191, evmAddress, evmAggregateHash } from './evm.js';
import { merkleRoot } from './merkle.js';
import { EVM_SIGNATURE_BYTES } from './pool/jobs.js';
import type { CryptoPool } from './pool/pool.js';
import { secp256k1 } from './secp256k1/secp256k1.js';
import { fieldNumber, starkPriceMessage } from './stark/stark.js';
import { starkPublicKey } from './stark/stark_ecdsa.js';

/** The service's private keys, 32 bytes each. */
export interface ServiceKeys {
  readonly evm: PrivateKey;
  /** The Stark key, which is required for aggregates of Stark assets. */
  readonly stark?: PrivateKey;
}

/** A public key, and the time span in which its private key signs. */
export interface PublicKey extends KeySpan {
  /** For `evm` the address in the mixed case of EIP-55; for `stark` the x coordinate of the public key. */
  readonly text: string;
}

/** Signs aggregates with the service's keys. */
export interface AggregateSigner {
  /**
   * The service's public keys by signature type, in the order of their time spans. Without Stark keys, the list for `stark` is
   * empty.
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
  const evmKeys = timedKeysOf(keys.evm).map((timed) => {
    const address = evmAddress(secp256k1.publicKey(timed.key));
    return { ...timed, address, text: checksumAddress(address) };
  });
  const starkKeys = timedKeysOf(keys.stark).map((timed) => ({
    ...timed,
    text: toHex(starkPublicKey(fieldNumber(timed.key))),
  }));

  function signEvm(aggregates: readonly UnsignedAggregate[]) {
    const { key, address, text } = inForceAt(evmKeys, aggregates[0]!.signedAtNs);
    const roots = aggregates.map(rootOf);
    const hashes = aggregates.map(({ asset, price, signedAtNs }, i) =>
      evmAggregateHash({
        address,
        symbol: asset.symbol,
        signedAtNs,
        price,
        merkleRoot: roots[i]!,
        checksum: Buffer.from(algorithmChecksum(asset.aggregation), 'hex'),
      }),
    );
    return whenSigned(pool.signEvm(Buffer.concat(hashes.map(eip191)), key), (signed) =>
      aggregates.map((aggregate, i) => {
        const at = i * EVM_SIGNATURE_BYTES;
        const [r, s] = [signed.subarray(at, at + 32), signed.subarray(at + 32, at + 64)];
        return toRecord(aggregate, {
          publicKey: text,
          msgHash: hashes[i]!,
          r,
          s,
          v: 27 + signed[at + 64]!,
          merkleRoot: roots[i]!,
        });
      }),
    );
  }

  function signStark(aggregates: readonly UnsignedAggregate[]) {
    const { key, text } = inForceAt(starkKeys, aggregates[0]!.signedAtNs);
    const messages = aggregates.map(({ asset, price, signedAtNs }) => {
      // The message is never undefined. Each Stark input is a field element of at least 0, and an aggregate lies between its
      // inputs.
      return starkPriceMessage(asset.symbol, oracleId, signedAtNs, price)!;
    });
    return whenSigned(pool.signStark(messages, key), (signed) =>
      aggregates.map((aggregate, i) => {
        const { msgHash, r, s } = signed[i]!;
        const merkleRoot = rootOf(aggregate);
        return toRecord(aggregate, { publicKey: text, msgHash, r, s, v: undefined, merkleRoot });
      }),
    );
  }

  return {
    publicKeys: { evm: evmKeys.map(publicPart), stark: starkKeys.map(publicPart) },
    sign: (type, aggregates) => (type === 'evm' ? signEvm(aggregates) : signStark(aggregates)),
  };
}

function publicPart({ text, fromNs, untilNs }: PublicKey): PublicKey {
  return { text, fromNs, untilNs };
}

function whenSigned<S, T>(signed: S | Promise<S>, next: (signed: S) => T): T | Promise<T> {
  return signed instanceof Promise ? signed.then(next) : next(signed);
}

function rootOf({ inputs }: UnsignedAggregate): Buffer {
  return merkleRoot(inputs.map(msgHashOf));
}

type SignatureFields = Pick<SignedAggregate, 'publicKey' | 'msgHash' | 'r' | 's' | 'v' | 'merkleRoot'>;

function toRecord(
  { asset, trigger, price, inputs, signedAtNs }: UnsignedAggregate,
  { publicKey, msgHash, r, s, v, merkleRoot }: SignatureFields,
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
