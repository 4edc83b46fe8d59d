import { hexToBytes } from '@noble/hashes/utils.js';
import { bytesInteger } from './bytes.js';
import type { EvmSignature } from './evm.js';

/** A decoded `signed_ecdsa` payload. */
export interface Payload {
  readonly layout: 'simplified' | 'versioned';
  readonly signature: EvmSignature;
  /** What the signature covers: everything after its 65 bytes. */
  readonly body: Uint8Array;
  readonly taxonomyId: number;
  /** UNIX nanoseconds. */
  readonly timestampNs: bigint;
  readonly assets: readonly PayloadAsset[];
}

export interface PayloadAsset {
  readonly id: number;
  /** The price times 10^18: a signed 128-bit integer, as on-chain decoders read it. */
  readonly value: bigint;
  /** The market status code, `null` for an asset without a schedule; absent when the payload carries none. */
  readonly marketStatus?: number | null;
}

/** The form check at which decoding stopped. */
export interface PayloadFault {
  readonly check: 'form' | 'version' | 'mask' | 'length';
  readonly reason: string;
}

const SIGNATURE_BYTES = 65;
const TIME_BYTES = 8;
const PRICE_BYTES = 16;
/** Asset ID and value. */
const PAIR_BYTES = 2 + PRICE_BYTES;
/** Taxonomy ID and timestamp. */
const SIMPLIFIED_HEADER_BYTES = 2 + TIME_BYTES;
/** Magic, version and attribute mask come first. */
const VERSIONED_HEADER_BYTES = 4 + SIMPLIFIED_HEADER_BYTES;
const MAGIC = 0xff;
const VERSION = 0x02;
const MASK_PRICE = 0b01;
const MASK_MARKET_STATUS = 0b10;
const NO_MARKET_SCHEDULE = 0xff;
const HEX = /^[0-9a-fA-F]+$/;

/** Decodes the hex of a payload, with or without `0x`, in either layout. Nothing is verified beyond its form. */
export function decodePayload(hex: string): Payload | PayloadFault {
  const digits = hex.startsWith('0x') ? hex.slice(2) : hex;
  if (digits.length % 2 === 1 || !HEX.test(digits)) {
    return { check: 'form', reason: 'the payload is not hex with two digits a byte' };
  }
  const bytes = hexToBytes(digits);
  const v = bytes[SIGNATURE_BYTES - 1];
  if (v === undefined) return { check: 'form', reason: `${bytes.length} bytes do not hold a signature` };
  if (v > 1) return { check: 'form', reason: `the recovery byte is ${v}, not 0 or 1` };
  const signature = {
    r: bytesInteger(bytes.subarray(0, 32)),
    s: bytesInteger(bytes.subarray(32, 64)),
    recovery: v as 0 | 1,
  };
  return decodeBody(bytes.subarray(SIGNATURE_BYTES), signature);
}

function decodeBody(body: Uint8Array, signature: EvmSignature): Payload | PayloadFault {
  const isPlain = holdsEntries(body, SIMPLIFIED_HEADER_BYTES, PAIR_BYTES);
  if (body[0] !== MAGIC) {
    return isPlain ? decodeEntries(body, signature, 0) : lengthFault(body, 'simplified');
  }
  const fault = versionedFault(body);
  if (fault === undefined) return decodeEntries(body, signature, maskOf(body));
  // A taxonomy ID of 0xFF00 and above begins with the magic byte too. Its next bytes would pass for a version and a
  // mask only with a timestamp in the first two weeks of 1970, so the layouts never meet.
  return isPlain ? decodeEntries(body, signature, 0) : fault;
}

function versionedFault(body: Uint8Array): PayloadFault | undefined {
  if (body[1] !== VERSION)
    return { check: 'version', reason: `the layout version is ${body[1]}, not ${VERSION}` };
  const mask = maskOf(body);
  if ((mask & MASK_PRICE) === 0 || mask > (MASK_PRICE | MASK_MARKET_STATUS)) {
    return { check: 'mask', reason: `the attribute mask is ${mask}, not 1 or 3` };
  }
  return holdsEntries(body, VERSIONED_HEADER_BYTES, entryBytes(mask))
    ? undefined
    : lengthFault(body, 'versioned');
}

/** `mask` is 0 for the simplified layout. */
function decodeEntries(body: Uint8Array, signature: EvmSignature, mask: number): Payload {
  const headerBytes = mask === 0 ? SIMPLIFIED_HEADER_BYTES : VERSIONED_HEADER_BYTES;
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  const assets: PayloadAsset[] = [];
  for (let at = headerBytes; at < body.length; at += entryBytes(mask)) {
    const id = view.getUint16(at);
    const value = (view.getBigInt64(at + 2) << 64n) | view.getBigUint64(at + 10);
    if ((mask & MASK_MARKET_STATUS) === 0) {
      assets.push({ id, value });
    } else {
      const code = view.getUint8(at + PAIR_BYTES);
      assets.push({ id, value, marketStatus: code === NO_MARKET_SCHEDULE ? null : code });
    }
  }
  return {
    layout: mask === 0 ? 'simplified' : 'versioned',
    signature,
    body,
    taxonomyId: view.getUint16(headerBytes - SIMPLIFIED_HEADER_BYTES),
    timestampNs: view.getBigUint64(headerBytes - TIME_BYTES),
    assets,
  };
}

function maskOf(body: Uint8Array): number {
  return ((body[2] ?? 0) << 8) | (body[3] ?? 0);
}

function entryBytes(mask: number): number {
  return (mask & MASK_MARKET_STATUS) === 0 ? PAIR_BYTES : PAIR_BYTES + 1;
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
