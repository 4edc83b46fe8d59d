import { ALGORITHM_VERSION, algorithmChecksum } from '../../crypto/algorithm_definition.js';
import { toHex } from '../../model/hex.js';
import { type PublisherPrice, placeAmong, type SignedAggregate } from '../../model/signed_price.js';
import type { ShownFacts } from '../../past/kept_entry.js';
import { qualityFields, qualityOf } from '../../wire/price_quality.js';
import { signedPriceField } from '../../wire/service_name.js';

/**
 * Makes the function that writes aggregates for REST and streams. The function writes each text only once, because readers
 * request an aggregate many times between two signatures.
 * @param serviceName as in the configuration
 * @param encodedAssetId writes `encoded_asset_id`
 */
export function aggregateWriter(
  serviceName: string,
  encodedAssetId: (symbol: string) => string,
): (aggregate: SignedAggregate) => string {
  const texts = new WeakMap<SignedAggregate, string>();
  return (aggregate) => {
    let text = texts.get(aggregate);
    if (text === undefined) {
      text = aggregateJson(aggregate, serviceName, encodedAssetId);
      texts.set(aggregate, text);
    }
    return text;
  };
}

/**
 * Writes an aggregate for REST. The function does not use `JSON.stringify`, because a `number` cannot hold a timestamp, and
 * because publishers' strings must stay exactly as received. The service's own hex keeps leading zeros, because some clients
 * reject an odd number of digits.
 * @param serviceName the configuration's `service.name`, the first word of `service_signed_price`
 */
export function aggregateJson(
  aggregate: SignedAggregate,
  serviceName: string,
  encodedAssetId: (symbol: string) => string,
): string {
  const shown = {
    serviceName,
    encodedAssetId: encodedAssetId(aggregate.symbol),
    version: ALGORITHM_VERSION,
    checksum: algorithmChecksum(aggregate.algorithm),
  };
  return shownAggregateJson(aggregate, shown, true, newestText);
}

/**
 * Writes an aggregate with the facts that REST showed at the time of signing.
 * @param hasInputs false when the service no longer keeps the inputs; the text then has no `signed_prices`
 * @param textOf see {@link signedPricesJson}
 */
export function shownAggregateJson(
  aggregate: SignedAggregate,
  shown: ShownFacts,
  hasInputs = true,
  textOf?: Parameters<typeof signedPricesJson>[1],
): string {
  const { symbol, timestampNs, signatureType, trigger, price } = aggregate;
  return (
    `{"timestamp":${timestampNs},"asset_id":${JSON.stringify(symbol)},"signature_type":"${signatureType}",` +
    `"trigger":"${trigger}","price":"${price}","${signedPriceField(shown.serviceName)}":{` +
    `"public_key":"${aggregate.publicKey}","encoded_asset_id":${JSON.stringify(shown.encodedAssetId)},` +
    `"price":"${price}","timestamped_signature":${serviceSignatureJson(aggregate)},` +
    `"publisher_merkle_root":"${toHex(aggregate.merkleRoot)}",` +
    `"calculation_alg":{"type":"${aggregate.algorithm}","version":"${shown.version}",` +
    `"checksum":"${shown.checksum}"}}` +
    `${hasInputs ? `,"signed_prices":${signedPricesJson(aggregate, textOf)}` : ''}}`
  );
}

/** Adds the facts about an aggregate's inputs to its text, if the service still keeps the inputs. */
export function withQuality(text: string, { inputs, signedAtNs }: SignedAggregate): string {
  const quality = qualityOf(inputs, signedAtNs);
  return quality === undefined ? text : `${text.slice(0, -1)},"quality":{${qualityFields(quality)}}}`;
}

/** The inputs of the last aggregate, and their texts. Successive aggregates of the past share most inputs. */
let last: {
  readonly inputs: readonly PublisherPrice[];
  readonly texts: readonly string[];
  readonly text: string;
} = {
  inputs: [],
  texts: [],
  text: '[]',
};

/**
 * Writes the publishers' prices of an aggregate.
 * @param textOf writes an input that the last aggregate did not have
 */
export function signedPricesJson(
  { inputs, signatureType }: SignedAggregate,
  textOf: (input: PublisherPrice, signatureType: string) => string = inputJson,
): string {
  if (last.inputs !== inputs) {
    const { inputs: known, texts: knownTexts } = last;
    const texts = inputs.map(
      (input, i) => knownTexts[placeAmong(known, input, i)] ?? textOf(input, signatureType),
    );
    last = { inputs, texts, text: `[${texts.join()}]` };
  }
  return last.text;
}

/**
 * The texts of the newest inputs. Between two aggregates with an input, the service signs aggregates of other assets. For the past, this
 * map would cost more than it saves: V8 copies its texts with each collection.
 */
const newestTexts = new WeakMap<PublisherPrice, string>();

function newestText(input: PublisherPrice, signatureType: string): string {
  let text = newestTexts.get(input);
  if (text === undefined) {
    text = inputJson(input, signatureType);
    newestTexts.set(input, text);
  }
  return text;
}

function serviceSignatureJson({ r, s, v, signedAtNs, msgHash }: SignedAggregate): string {
  const signature = `"r":"${toHex(r)}","s":"${toHex(s)}"${v === undefined ? '' : `,"v":"0x${v.toString(16)}"`}`;
  return `{"signature":{${signature}},"timestamp":${signedAtNs},"msg_hash":"${toHex(msgHash)}"}`;
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
