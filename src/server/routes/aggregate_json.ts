import { ALGORITHM_VERSION, algorithmChecksum } from '../../crypto/algorithm_definition.js';
import { toHex } from '../../model/hex.js';
import type { PublisherPrice, SignedAggregate } from '../../model/signed_price.js';
import { signedPriceField } from '../../wire/service_name.js';

/**
 * An aggregate as REST serves it. Written by hand: timestamps are integers that a
 * `number` cannot hold, and publishers' strings stand exactly as they came.
 * @param serviceName the configuration's `service.name`, the word in `service_signed_price`
 */
export function aggregateJson(
  aggregate: SignedAggregate,
  serviceName: string,
  encodedAssetId: (symbol: string) => string,
): string {
  const { symbol, timestampNs, signatureType, trigger, price, inputs } = aggregate;
  return (
    `{"timestamp":${timestampNs},"asset_id":${JSON.stringify(symbol)},"signature_type":"${signatureType}",` +
    `"trigger":"${trigger}","price":"${price}","${signedPriceField(serviceName)}":{` +
    `"public_key":"${aggregate.publicKey}","encoded_asset_id":${JSON.stringify(encodedAssetId(symbol))},` +
    `"price":"${price}","timestamped_signature":${serviceSignatureJson(aggregate)},` +
    `"publisher_merkle_root":"${toHex(aggregate.merkleRoot)}",` +
    `"calculation_alg":{"type":"${aggregate.algorithm}","version":"${ALGORITHM_VERSION}",` +
    `"checksum":"${algorithmChecksum(aggregate.algorithm)}"}},` +
    `"signed_prices":[${inputs.map((input) => inputJson(input, signatureType)).join()}]}`
  );
}

function serviceSignatureJson({ signatureType, r, s, v, signedAtNs, msgHash }: SignedAggregate): string {
  const text = signatureType === 'evm' ? toHex : starkHex;
  const signature = `"r":"${text(r)}","s":"${text(s)}"${v === undefined ? '' : `,"v":"0x${v.toString(16)}"`}`;
  return `{"signature":{${signature}},"timestamp":${signedAtNs},"msg_hash":"${text(msgHash)}"}`;
}

function inputJson({ wire, timestampNs }: PublisherPrice, signatureType: string): string {
  const v = wire.v === undefined ? '' : `,"v":${JSON.stringify(wire.v)}`;
  const metadata = wire.metadata === undefined ? '' : `,"metadata":${wire.metadata}`;
  return (
    `{"publisher_key":"${wire.publisherKey}","external_asset_id":${JSON.stringify(wire.externalAssetId)},` +
    `"signature_type":"${signatureType}","price":"${wire.price}",` +
    `"timestamped_signature":{"signature":{"r":"${wire.r}","s":"${wire.s}"${v}},"timestamp":${timestampNs},` +
    `"msg_hash":"${wire.msgHash}"}${metadata}}`
  );
}

/** Field elements are written as numbers: without leading zeros. */
function starkHex(bytes: Uint8Array): string {
  return `0x${BigInt(toHex(bytes)).toString(16)}`;
}
