import type { SignatureType } from '../model/asset.js';
import { toHex } from '../model/hex.js';
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
  readonly evm: Buffer;
  /** The Stark key, which is required for aggregates of Stark assets. */
  readonly stark?: Buffer;
}

/** Signs aggregates with the service's keys. */
export interface AggregateSigner {
  /**
   * The service's EVM address in the mixed case of EIP-55. The key of this address signs EVM aggregates and
   * streaming payloads.
   */
  readonly evmAddress: string;
  readonly starkPublicKey: string | undefined;
  /** @param aggregates the aggregates to sign, all for assets of the signature type `type` */
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
  const address = evmAddress(secp256k1.publicKey(keys.evm));
  const evmPublicKey = checksumAddress(address);
  const starkKeyText = keys.stark && toHex(starkPublicKey(fieldNumber(keys.stark)));

  function signEvm(aggregates: readonly UnsignedAggregate[]) {
    const hashes = aggregates.map((aggregate) => {
      const { asset, price, signedAtNs, inputs } = aggregate;
      return evmAggregateHash({
        address,
        symbol: asset.symbol,
        signedAtNs,
        price,
        merkleRoot: rootOf(inputs),
        checksum: Buffer.from(algorithmChecksum(asset.aggregation), 'hex'),
      });
    });
    return whenSigned(pool.signEvm(Buffer.concat(hashes.map(eip191)), keys.evm), (signed) =>
      aggregates.map((aggregate, i) => {
        const at = i * EVM_SIGNATURE_BYTES;
        const [r, s] = [signed.subarray(at, at + 32), signed.subarray(at + 32, at + 64)];
        return toRecord(aggregate, {
          publicKey: evmPublicKey,
          msgHash: hashes[i]!,
          r,
          s,
          v: 27 + signed[at + 64]!,
        });
      }),
    );
  }

  function signStark(aggregates: readonly UnsignedAggregate[]) {
    const messages = aggregates.map(({ asset, price, signedAtNs }) => {
      // The message always exists, because every Stark input is a field element of at least 0 and an aggregate lies
      // between its inputs.
      return starkPriceMessage(asset.symbol, oracleId, signedAtNs, price)!;
    });
    return whenSigned(pool.signStark(messages, keys.stark!), (signed) =>
      aggregates.map((aggregate, i) => {
        const { msgHash, r, s } = signed[i]!;
        return toRecord(aggregate, { publicKey: starkKeyText!, msgHash, r, s, v: undefined });
      }),
    );
  }

  return {
    evmAddress: evmPublicKey,
    starkPublicKey: starkKeyText,
    sign: (type, aggregates) => (type === 'evm' ? signEvm(aggregates) : signStark(aggregates)),
  };
}

function whenSigned<S, T>(signed: S | Promise<S>, next: (signed: S) => T): T | Promise<T> {
  return signed instanceof Promise ? signed.then(next) : next(signed);
}

function rootOf(inputs: readonly PublisherPrice[]): Buffer {
  return merkleRoot(inputs.map(msgHashOf));
}

function toRecord(
  { asset, trigger, price, inputs, signedAtNs }: UnsignedAggregate,
  { publicKey, msgHash, r, s, v }: Pick<SignedAggregate, 'publicKey' | 'msgHash' | 'r' | 's' | 'v'>,
): SignedAggregate {
  return {
    symbol: asset.symbol,
    trigger,
    price,
    timestampNs: newest(inputs),
    signedAtNs,
    signatureType: asset.signatureType,
    publicKey,
    msgHash,
    r,
    s,
    v,
    merkleRoot: rootOf(inputs),
    algorithm: asset.aggregation,
    inputs,
  };
}

function newest(inputs: readonly PublisherPrice[]): TimeNs {
  return inputs.reduce(
    (latest, { timestampNs }) => (timestampNs > latest ? timestampNs : latest),
    0n as TimeNs,
  );
}
