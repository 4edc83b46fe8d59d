import { WORD_BYTES } from '../../wire/signatures.js';
import { checksumAddress } from '../checksum_address.js';
import {
  eip191,
  evmAddress,
  evmAggregateHash,
  evmPriceHash,
  isCanonicalSignature,
  isEvmAggregateHash,
  isEvmPriceHash,
} from '../evm.js';
import { type EvmVerifyJob, verifyAlone } from '../evm_verifier.js';
import { EVM_SIGNATURE_BYTES } from '../pool/jobs.js';
import { secp256k1 } from '../secp256k1/secp256k1.js';
import { HASH_MISMATCH, type SignatureRules, whenDone } from './signature_rules.js';

/** The offset of the recovery bit in `v`. */
const RECOVERY_OFFSET = 27;

/** The rules of Ethereum: secp256k1 over Keccak-256. The public key is the address. */
export const EVM_RULES: SignatureRules<EvmVerifyJob> = {
  publicKey: (key) => evmAddress(secp256k1.publicKey(key)),
  keyText: checksumAddress,
  priceJob({ publisher, asset, timestampNs, price, msgHash, signature, recovery }) {
    if (!isEvmPriceHash(msgHash, publisher.key, asset.symbol, timestampNs, price)) return HASH_MISMATCH;
    if (!isCanonicalSignature(signature)) return 'signature r or s is out of range, or s is not low';
    return { msgHash, signature, recovery, address: publisher.key };
  },
  messageJob(address, { symbol, timestampNs, price }, { signature, recovery }) {
    return { msgHash: evmPriceHash(address, symbol, timestampNs, price), signature, recovery, address };
  },
  aggregateJob({ symbol, signedAtNs, price, merkleRoot, msgHash, r, s, v }, address, checksum) {
    const message = { address, symbol, signedAtNs, price, merkleRoot, checksum };
    if (!isEvmAggregateHash(msgHash, message)) return 'msg_hash is of another aggregate';
    const recovery = v === undefined ? undefined : v - RECOVERY_OFFSET;
    if (recovery !== 0 && recovery !== 1) return 'v is missing';
    const signature = Buffer.allocUnsafe(2 * WORD_BYTES);
    signature.set(r);
    signature.set(s, WORD_BYTES);
    return { msgHash, signature, recovery, address };
  },
  verify: (pool, jobs) => pool.verifyEvm(jobs),
  verifyHere: (here, jobs) => here.verifyEvm(jobs),
  // The tables for many signatures would take 50 ms, and 3 ms for each key.
  verifyOne: (_here, job) => verifyAlone(job),
  jobsIn2Ms: 32,
  sign(pool, { key, publicKey: address }, messages) {
    // Copying a message with `...` takes as long as half of its hash.
    const hashes = messages.map(({ symbol, signedAtNs, price, merkleRoot, checksum }) =>
      evmAggregateHash({ address, symbol, signedAtNs, price, merkleRoot, checksum }),
    );
    return whenDone(pool.signEvm(Buffer.concat(hashes.map(eip191)), key), (signed) =>
      hashes.map((msgHash, i) => {
        const at = i * EVM_SIGNATURE_BYTES;
        const [r, s] = [signed.subarray(at, at + 32), signed.subarray(at + 32, at + 64)];
        return { msgHash, r, s, v: RECOVERY_OFFSET + signed[at + 64]! };
      }),
    );
  },
};
