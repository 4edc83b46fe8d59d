import type { AggregationType, SignatureType } from '../model/asset.js';
import { type Price, parsePrice } from '../model/price.js';
import { parseTimeNs, type TimeNs } from '../model/time.js';
import { parseHexInteger } from './bytes.js';

/** A signature and what it says it signs, read into numbers. */
export interface SignedForm {
  /** `evm`: the address. `stark`: the x coordinate of the public key. */
  readonly key: bigint;
  readonly price: Price;
  readonly timestampNs: TimeNs;
  readonly msgHash: bigint;
  readonly r: bigint;
  readonly s: bigint;
  /** 0 in Stark signatures, which have none. */
  readonly recovery: 0 | 1;
}

export interface PublisherForm extends SignedForm {
  readonly signatureType: SignatureType;
  readonly externalAssetId: string;
}

export interface ServiceForm extends SignedForm {
  readonly encodedAssetId: string;
  readonly merkleRoot: bigint;
  readonly algorithm: AggregationType;
  /** 32 bytes as a number. */
  readonly checksum: bigint;
}

/** An `AggregatedSignedPrice`, read once so that the checks work with numbers. */
export interface AggregateForm {
  readonly assetId: string;
  readonly signatureType: SignatureType;
  readonly price: Price;
  readonly timestampNs: TimeNs;
  readonly service: ServiceForm;
  readonly publishers: readonly PublisherForm[];
}

const SIGNATURE_TYPES: readonly SignatureType[] = ['evm', 'stark'];
const ALGORITHMS: readonly AggregationType[] = ['median', 'average', 'weighted average'];
/** Ethereum writes the recovery bit as 27 or 28, plain ECDSA as 0 or 1. */
const RECOVERY: Readonly<Record<string, 0 | 1>> = { '0': 0, '1': 1, '27': 0, '28': 1 };

/** A field of an aggregate is missing or has another form than `/docs` describes. */
export class FormError extends Error {}

/**
 * Reads an aggregate whose integers are exact (bigints, safe numbers or decimal strings).
 * @throws FormError naming the first field that has the wrong form.
 */
export function readAggregate(value: unknown): AggregateForm {
  const root = new Fields(value, '');
  const signatureType = root.oneOf('signature_type', SIGNATURE_TYPES);
  return {
    assetId: root.text('asset_id'),
    signatureType,
    price: root.price('price'),
    timestampNs: root.timestamp('timestamp'),
    service: readService(root.child('service_signed_price'), signatureType),
    publishers: root.children('signed_prices').map(publisherOf),
  };
}

/**
 * Reads one publisher's `signed_price`.
 * @throws FormError naming the first field that has the wrong form.
 */
export function readPublisher(value: unknown): PublisherForm {
  return publisherOf(new Fields(value, ''));
}

function readService(fields: Fields, signatureType: SignatureType): ServiceForm {
  const algorithm = fields.child('calculation_alg');
  return {
    ...readSigned(fields, 'public_key', signatureType),
    encodedAssetId: fields.text('encoded_asset_id'),
    merkleRoot: fields.hex('publisher_merkle_root'),
    algorithm: algorithm.oneOf('type', ALGORITHMS),
    checksum: algorithm.hex('checksum', '0x'),
  };
}

function publisherOf(fields: Fields): PublisherForm {
  const signatureType = fields.oneOf('signature_type', SIGNATURE_TYPES);
  const externalAssetId = fields.text('external_asset_id');
  return { ...readSigned(fields, 'publisher_key', signatureType), signatureType, externalAssetId };
}

function readSigned(fields: Fields, keyName: string, signatureType: SignatureType): SignedForm {
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

/** An object of unknown shape together with its place, so that a fault names the whole path. */
class Fields {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(
    value: unknown,
    readonly path: string,
  ) {
    if (typeof value !== 'object' || value === null)
      throw new FormError(`${path || 'the value'} is not an object`);
    this.#values = value as Record<string, unknown>;
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

  /** A hex integer of at most 32 bytes; `prefix` is put before a field that is written without `0x`. */
  hex(name: string, prefix = ''): bigint {
    return parseHexInteger(prefix + this.text(name)) ?? this.#fail(name, 'is not hex of at most 32 bytes');
  }

  recovery(name: string): 0 | 1 {
    return RECOVERY[String(this.hex(name))] ?? this.#fail(name, 'is not 0x1b, 0x1c, 0x0 or 0x1');
  }

  child(name: string): Fields {
    return new Fields(this.#values[name], this.#pathOf(name));
  }

  children(name: string): Fields[] {
    const values = this.#values[name];
    if (!Array.isArray(values)) this.#fail(name, 'is not an array');
    return (values as unknown[]).map((value, i) => new Fields(value, `${this.#pathOf(name)}[${i}]`));
  }

  #pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  #fail(name: string, problem: string): never {
    throw new FormError(`${this.#pathOf(name)} ${problem}`);
  }
}
