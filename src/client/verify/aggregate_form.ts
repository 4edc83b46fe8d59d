import type { Price } from '../../model/price.js';
import type { TimeNs } from '../../model/time.js';
import { AGGREGATION_TYPES, type AggregationType } from '../../wire/algorithms.js';
import { SERVICE_NAME_PATTERN, signedPriceField } from '../../wire/service_name.js';
import { SIGNATURE_TYPES, SIGNATURES, type SignatureType } from '../../wire/signatures.js';
import { FormReader } from './form_reader.js';

/** A signature and its declared values, converted to numbers. */
export interface SignedForm {
  /** `evm`: the address. `stark`: the x coordinate of the public key. */
  readonly key: bigint;
  readonly price: Price;
  readonly timestampNs: TimeNs;
  readonly msgHash: bigint;
  readonly r: bigint;
  readonly s: bigint;
  /** The recovery bit; 0 in Stark signatures, because they have no recovery bit. */
  readonly recovery: 0 | 1;
}

export interface PublisherForm extends SignedForm {
  readonly signatureType: SignatureType;
  readonly externalAssetId: string;
}

export interface ServiceForm extends SignedForm {
  /** The name of the field of this signed price: `<service name>_signed_price`. */
  readonly field: string;
  readonly encodedAssetId: string;
  readonly merkleRoot: bigint;
  readonly algorithm: AggregationType;
  /** The checksum: 32 bytes as a number. */
  readonly checksum: bigint;
}

/** An `AggregatedSignedPrice` that was read once, so that the checks work with numbers. */
export interface AggregateForm {
  /** The symbol of the asset. */
  readonly assetId: string;
  /** The type of the signatures of the service and of the publishers. */
  readonly signatureType: SignatureType;
  /** The price, times 10^18. */
  readonly price: Price;
  /** The newest signature time of the inputs, in nanoseconds. */
  readonly timestampNs: TimeNs;
  /** The fields that the service signs, with its signature. */
  readonly service: ServiceForm;
  /** The inputs; `undefined` when the service has removed the inputs. */
  readonly publishers: readonly PublisherForm[] | undefined;
}

/** The pattern of the field with the service's signature. The operator chooses the name, such as `acme_signed_price`. */
const SERVICE_FIELD = new RegExp(`^${signedPriceField(SERVICE_NAME_PATTERN)}$`);

/**
 * Reads an aggregate whose integers are exact (bigints, safe numbers or decimal strings).
 * @param serviceName the service's name in `<name>_signed_price`. If absent, there must be exactly one field of that form.
 * @throws FormError that names the first field with a wrong form
 */
export function readAggregate(value: unknown, serviceName?: string): AggregateForm {
  const root = new FormReader(value, '');
  const signatureType = root.oneOf('signature_type', SIGNATURE_TYPES);
  const serviceField = serviceName === undefined ? root.only(SERVICE_FIELD) : signedPriceField(serviceName);
  return {
    assetId: root.text('asset_id'),
    signatureType,
    price: root.price('price'),
    timestampNs: root.timestamp('timestamp'),
    service: readService(root.child(serviceField), signatureType),
    publishers: root.has('signed_prices') ? root.children('signed_prices').map(publisherOf) : undefined,
  };
}

/** Returns the signature time that an aggregate states; `undefined` for an aggregate of another form, which fails every check. */
export function signedTimeOf(aggregate: unknown): bigint | undefined {
  try {
    return readAggregate(aggregate).service.timestampNs;
  } catch {
    return undefined;
  }
}

/**
 * Reads a publisher's `signed_price`.
 * @throws FormError that names the first field with a wrong form
 */
export function readPublisher(value: unknown): PublisherForm {
  return publisherOf(new FormReader(value, ''));
}

function readService(fields: FormReader, signatureType: SignatureType): ServiceForm {
  const algorithm = fields.child('calculation_alg');
  return {
    ...readSigned(fields, 'public_key', signatureType),
    field: fields.path,
    encodedAssetId: fields.text('encoded_asset_id'),
    merkleRoot: fields.hex('publisher_merkle_root'),
    algorithm: algorithm.oneOf('type', AGGREGATION_TYPES),
    checksum: algorithm.hex('checksum', '0x'),
  };
}

function publisherOf(fields: FormReader): PublisherForm {
  const signatureType = fields.oneOf('signature_type', SIGNATURE_TYPES);
  const externalAssetId = fields.text('external_asset_id');
  return { ...readSigned(fields, 'publisher_key', signatureType), signatureType, externalAssetId };
}

function readSigned(fields: FormReader, keyName: string, signatureType: SignatureType): SignedForm {
  const signed = fields.child('timestamped_signature');
  const signature = signed.child('signature');
  return {
    key: fields.hex(keyName),
    price: fields.price('price'),
    timestampNs: signed.timestamp('timestamp'),
    msgHash: signed.hex('msg_hash'),
    r: signature.hex('r'),
    s: signature.hex('s'),
    recovery: SIGNATURES[signatureType].hasRecovery ? signature.recovery('v') : 0,
  };
}
