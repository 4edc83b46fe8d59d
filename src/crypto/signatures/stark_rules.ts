import { parseHex, toHex } from '../../model/hex.js';
import { WORD_BYTES } from '../../wire/signatures.js';
import type { StarkVerifyJob } from '../pool/jobs.js';
import { fieldNumber, starkExternalAssetId, starkPriceMessage } from '../stark/stark.js';
import { starkPublicKey } from '../stark/stark_ecdsa.js';
import { fillStarkTables } from '../stark/stark_tables.js';
import { type SignatureRules, whenDone } from './signature_rules.js';

/** The rules of Starknet: the Stark curve over the Pedersen hash. The public key is the x coordinate. */
export const STARK_RULES: SignatureRules<StarkVerifyJob> = {
  publicKey: (key) => starkPublicKey(fieldNumber(key)),
  keyText: toHex,
  /** Also leaves the Pedersen hash to the job, because the hash costs as much as a curve operation. */
  priceJob({ raw, publisher, asset, timestampNs, price, msgHash, signature }) {
    const oracleId = oracleIdOf(raw.externalAssetId);
    if (publisher.oracleId !== undefined && publisher.oracleId !== oracleId)
      return 'external_asset_id names another oracle than the publisher is configured with';
    const expected = starkExternalAssetId(asset.symbol, oracleId);
    const declared = parseHex(raw.externalAssetId, 32);
    if (expected === undefined || declared === undefined || !parseHex(expected, 32)!.equals(declared))
      return 'external_asset_id names another asset';
    const message = starkPriceMessage(asset.symbol, oracleId, timestampNs, price);
    if (message === undefined) return 'the price or asset ID is too large for a Stark signature';
    return { ...message, msgHash, ...numbersOf(signature), publicKey: publisher.key };
  },
  messageJob(publicKey, { symbol, oracleId, timestampNs, price }, { signature }, here) {
    const message = starkPriceMessage(symbol, oracleId, timestampNs, price)!;
    return { ...message, msgHash: here.hashStark(message), ...numbersOf(signature), publicKey };
  },
  aggregateJob({ symbol, signedAtNs, price, msgHash, r, s, v }, publicKey, _checksum, oracleId) {
    const message = starkPriceMessage(symbol, oracleId, signedAtNs, price);
    if (message === undefined || v !== undefined) return 'no Stark signature has this form';
    return { ...message, msgHash, r, s, publicKey };
  },
  verify: (pool, jobs) => pool.verifyStark(jobs),
  verifyHere: (here, jobs) => here.verifyStark(jobs),
  verifyOne: (here, job) => here.verifyStark([job])[0]!,
  jobsIn2Ms: 4,
  fillTables: fillStarkTables,
  sign(pool, { key, oracleId }, aggregates) {
    // The message is never undefined. Each Stark input is a field element of at least 0, and an aggregate lies between its inputs.
    const messages = aggregates.map(
      ({ symbol, signedAtNs, price }) => starkPriceMessage(symbol, oracleId, signedAtNs, price)!,
    );
    return whenDone(pool.signStark(messages, key), (signed) =>
      signed.map(({ msgHash, r, s }) => ({ msgHash, r, s, v: undefined })),
    );
  },
};

function numbersOf(signature: Buffer) {
  return { r: signature.subarray(0, WORD_BYTES), s: signature.subarray(WORD_BYTES) };
}

/** Returns the five characters at the end of a Stark `external_asset_id`. */
function oracleIdOf(externalAssetId: string): string {
  return Buffer.from(externalAssetId.slice(-10), 'hex').toString('latin1');
}
