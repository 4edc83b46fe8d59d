import { type Price, parsePrice } from '../../model/price.js';
import { parseTimeNs, type TimeNs } from '../../model/time.js';
import { SERVICE_NAME_PATTERN, signedPriceField } from '../../wire/service_name.js';
import {
  AGGREGATION_TYPES,
  type AggregationType,
  SIGNATURE_TYPES,
  type SignatureType,
} from '../../wire/signatures.js';
import { parseHexInteger } from './bytes.js';

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
  readonly assetId: string;
  readonly signatureType: SignatureType;
  readonly price: Price;
  readonly timestampNs: TimeNs;
  readonly service: ServiceForm;
  /** The inputs; `undefined` when the service has removed the inputs. */
  readonly publishers: readonly PublisherForm[] | undefined;
}

/** The recovery bits by their text. Ethereum writes 27 or 28, and plain ECDSA writes 0 or 1. */
const RECOVERY: Readonly<Record<string, 0 | 1>> = { '0': 0, '1': 1, '27': 0, '28': 1 };

/** The error for a field of an aggregate that is missing, or whose form differs from `/docs`. */
export class FormError extends Error {}

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
    recovery: signatureType === 'evm' ? signature.recovery('v') : 0,
  };
}

/** An object of unknown shape together with its place. An error can therefore name the whole path. */
class FormReader {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(
    value: unknown,
    readonly path: string,
  ) {
    if (typeof value !== 'object' || value === null)
      throw new FormError(`${path || 'the value'} is not an object`);
    this.#values = value as Record<string, unknown>;
  }

  /** Returns the name of the only field that matches. Several matches are an error, because the right field is then unknown. */
  only(pattern: RegExp): string {
    const [name, ...others] = Object.keys(this.#values).filter((one) => pattern.test(one));
    if (name === undefined) throw new FormError('there is no field <service name>_signed_price');
    if (others.length > 0) {
      throw new FormError(
        `${[name, ...others].join(' and ')}: which one is the service's depends on its name`,
      );
    }
    return name;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#values, name);
  }

  text(name: string): string {
    const value = this.#values[name];
    return typeof value === 'string' ? value : this.#fail(name, 'is not a string');
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T {
    const value = this.text(name);
    return allowed.find((one) => one === value) ?? this.#fail(name, `is not one of ${allowed.join(', ')}`);
  }

  price(name: string): Price {
    return parsePrice(this.text(name)) ?? this.#fail(name, 'is not a price');
  }

  timestamp(name: string): TimeNs {
    const value = this.#values[name];
    if (typeof value === 'number' && !Number.isSafeInteger(value)) {
      this.#fail(name, 'has lost digits in a double: pass the JSON text');
    }
    const isDigits = typeof value === 'bigint' || typeof value === 'number' || typeof value === 'string';
    return (
      (isDigits ? parseTimeNs(String(value)) : undefined) ?? this.#fail(name, 'is not a nanosecond timestamp')
    );
  }

  /** Reads a hex integer of at most 32 bytes. The method puts `prefix` before the text of a field without `0x`. */
  hex(name: string, prefix = ''): bigint {
    return parseHexInteger(prefix + this.text(name)) ?? this.#fail(name, 'is not hex of at most 32 bytes');
  }

  recovery(name: string): 0 | 1 {
    return RECOVERY[String(this.hex(name))] ?? this.#fail(name, 'is not 0x1b, 0x1c, 0x0 or 0x1');
  }

  child(name: string): FormReader {
    return new FormReader(this.#values[name], this.#pathOf(name));
  }

  children(name: string): FormReader[] {
    const values = this.#values[name];
    if (!Array.isArray(values)) this.#fail(name, 'is not an array');
    return (values as unknown[]).map((value, i) => new FormReader(value, `${this.#pathOf(name)}[${i}]`));
  }

  #pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  #fail(name: string, problem: string): never {
    throw new FormError(`${this.#pathOf(name)} ${problem}`);
  }
}
