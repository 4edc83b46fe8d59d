import {
  assetBytes,
  LAYOUT_MAGIC,
  LAYOUT_VERSION,
  PAYLOAD_SIGNATURE,
  SIMPLIFIED_LAYOUT,
  VERSIONED_LAYOUT,
} from '../../wire/payload_fields.js';
import { type AttributeValues, attributesOf, MASK_MAX, MASK_PRICE } from '../../wire/stream_attributes.js';
import { bytesInteger, hexToBytes } from './bytes.js';
import type { EvmSignature } from './evm_signatures.js';

/** A decoded `signed_ecdsa` payload. */
export interface Payload {
  /** The layout of the body. The layout is `versioned` if the reader requested further attributes. */
  readonly layout: 'simplified' | 'versioned';
  /** The signature over the Keccak-256 of `body`. */
  readonly signature: EvmSignature;
  /** The signed bytes: all bytes after the signature. */
  readonly body: Uint8Array;
  /** The ID of the taxonomy that maps the IDs of `assets` to symbols. */
  readonly taxonomyId: number;
  /** The time at which the service made the payload, in UNIX nanoseconds. */
  readonly timestampNs: bigint;
  /** The prices, in ascending order of their IDs. */
  readonly assets: readonly PayloadAsset[];
}

/** The price and the attributes of one asset in a payload. */
export interface PayloadAsset extends AttributeValues {
  /** The streaming ID. */
  readonly id: number;
  /** The price times 10^18: a signed 128-bit integer, as for on-chain decoders. */
  readonly value: bigint;
}

/** The check of the form at which decoding stopped. */
export interface PayloadFault {
  readonly check: 'form' | 'version' | 'mask' | 'length';
  readonly reason: string;
}

const SIGNATURE_AT = PAYLOAD_SIGNATURE.at;
const SIMPLIFIED_HEAD = SIMPLIFIED_LAYOUT.head;
const VERSIONED_HEAD = VERSIONED_LAYOUT.head;
const HEX = /^[0-9a-fA-F]+$/;

/**
 * Decodes the hex of a payload in either layout, with or without `0x`. Only the form is verified.
 * @returns the payload, or the name of the form check that failed and its reason
 */
export function decodePayload(hex: string): Payload | PayloadFault {
  const signed = decodeSigned(hex);
  return 'check' in signed ? signed : decodeBody(signed.body, signed.signature);
}

/** Splits the hex of signed bytes, with or without `0x`, into the signature and the bytes after the signature. */
export function decodeSigned(hex: string): Pick<Payload, 'signature' | 'body'> | PayloadFault {
  const digits = hex.startsWith('0x') ? hex.slice(2) : hex;
  if (digits.length % 2 === 1 || !HEX.test(digits)) {
    return { check: 'form', reason: 'this is not hex with two digits a byte' };
  }
  const bytes = hexToBytes(digits);
  const v = bytes[SIGNATURE_AT.v];
  if (v === undefined) return { check: 'form', reason: `${bytes.length} bytes do not hold a signature` };
  if (v > 1) return { check: 'form', reason: `the recovery byte is ${v}, not 0 or 1` };
  const signature = {
    r: bytesInteger(bytes.subarray(SIGNATURE_AT.r, SIGNATURE_AT.s)),
    s: bytesInteger(bytes.subarray(SIGNATURE_AT.s, SIGNATURE_AT.v)),
    recovery: v as 0 | 1,
  };
  return { signature, body: bytes.subarray(PAYLOAD_SIGNATURE.bytes) };
}

function decodeBody(body: Uint8Array, signature: EvmSignature): Payload | PayloadFault {
  const isPlain = holdsEntries(body, SIMPLIFIED_HEAD.bytes, SIMPLIFIED_LAYOUT.asset.bytes);
  if (body[VERSIONED_HEAD.at.magic] !== LAYOUT_MAGIC) {
    return isPlain ? decodeEntries(body, signature, 0) : lengthFault(body, 'simplified');
  }
  const fault = versionedFault(body);
  if (fault === undefined) return decodeEntries(body, signature, maskOf(body));
  // A taxonomy ID of 0xFF00 and above also begins with the magic byte. The bytes after such an ID look like the version and a mask of a
  // byte only if the timestamp is before 1973. So the layouts cannot be confused, even if the mask has bits of later attributes.
  const hasMask = body[VERSIONED_HEAD.at.version] === LAYOUT_VERSION && maskOf(body) <= MASK_OF_BYTE_MAX;
  return isPlain && !hasMask ? decodeEntries(body, signature, 0) : fault;
}

const MASK_OF_BYTE_MAX = 0xff;

function versionedFault(body: Uint8Array): PayloadFault | undefined {
  const version = body[VERSIONED_HEAD.at.version];
  if (version !== LAYOUT_VERSION)
    return { check: 'version', reason: `the layout version is ${version}, not ${LAYOUT_VERSION}` };
  const mask = maskOf(body);
  if ((mask & MASK_PRICE) === 0 || (mask & ~MASK_MAX) !== 0) {
    const reason = `the attribute mask ${mask} lacks the price or has bits that are not in ${MASK_MAX}`;
    return { check: 'mask', reason };
  }
  return holdsEntries(body, VERSIONED_HEAD.bytes, assetBytes(mask))
    ? undefined
    : lengthFault(body, 'versioned');
}

/** Decodes entries. `mask` is 0 for the simplified layout. */
function decodeEntries(body: Uint8Array, signature: EvmSignature, mask: number): Payload {
  const { at: headAt, bytes: headBytes } = mask === 0 ? SIMPLIFIED_HEAD : VERSIONED_HEAD;
  const entryAt = SIMPLIFIED_LAYOUT.asset.at;
  const attributes = attributesOf(mask);
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  const assets: PayloadAsset[] = [];
  for (let at = headBytes; at < body.length; ) {
    const id = view.getUint16(at + entryAt['asset ID']);
    const priceAt = at + entryAt.price;
    const value = (view.getBigInt64(priceAt) << 64n) | view.getBigUint64(priceAt + 8);
    const asset: { -readonly [Name in keyof PayloadAsset]: PayloadAsset[Name] } = { id, value };
    at += SIMPLIFIED_LAYOUT.asset.bytes;
    for (const { property, bytes, none } of attributes) {
      const attribute = bytes === 1 ? view.getUint8(at) : view.getUint32(at);
      asset[property] = attribute === none ? null : attribute;
      at += bytes;
    }
    assets.push(asset);
  }
  return {
    layout: mask === 0 ? 'simplified' : 'versioned',
    signature,
    body,
    taxonomyId: view.getUint16(headAt['taxonomy ID']),
    timestampNs: view.getBigUint64(headAt.timestamp),
    assets,
  };
}

function maskOf(body: Uint8Array): number {
  const at = VERSIONED_HEAD.at['attribute mask'];
  return ((body[at] ?? 0) << 8) | (body[at + 1] ?? 0);
}

function holdsEntries(body: Uint8Array, headerBytes: number, sizeBytes: number): boolean {
  return body.length > headerBytes && (body.length - headerBytes) % sizeBytes === 0;
}

function lengthFault(body: Uint8Array, layout: string): PayloadFault {
  return {
    check: 'length',
    reason: `${body.length} bytes are no whole number of assets in the ${layout} layout`,
  };
}
