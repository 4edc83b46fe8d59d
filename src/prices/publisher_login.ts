import type { ListedPublisher, SignatureType } from '../model/asset.js';
import { parseHex } from '../model/hex.js';
import { perhapsCoarser } from '../model/likely_unit.js';
import { parseTimeNs, type TimeNs } from '../model/time.js';
import { LOGIN_HEADERS } from '../wire/login_message.js';
import { SIGNATURE_TYPES, SIGNATURES, WORD_BYTES } from '../wire/signatures.js';

/** The headers of a login with a signature, in order: the name in lower case and the value. */
export type LoginHeaders = readonly (readonly [name: string, value: string])[];

/** The largest amounts by which a login's time may be behind the clock and ahead of the clock. */
export interface LoginWindow {
  readonly maxPastNs: bigint;
  readonly maxFutureNs: bigint;
}

/** A login of a listed publisher, before its signature is verified. */
export interface LoginClaim {
  readonly publisher: ListedPublisher;
  readonly timestampNs: TimeNs;
  /** r and then s: 64 bytes. */
  readonly signature: Buffer;
  /** The recovery bit; 0 for a signature without one. */
  readonly recovery: 0 | 1;
}

export interface LoginRefusal {
  /** The HTTP status. 403 means that the headers are valid, but do not give access to this path. */
  readonly status: 401 | 403;
  readonly reason: LoginFault;
  /** The text of the answer, which names the invalid header. */
  readonly error: string;
}

/** The reasons that metrics count. `unknown` means that the key is not on the allow-list. */
export type LoginFault =
  | 'missing'
  | 'repeated'
  | 'malformed'
  | 'stale'
  | 'future'
  | 'signature type'
  | 'unknown'
  | 'signature';

export type FindPublisher = (type: SignatureType, key: Buffer) => ListedPublisher | undefined;

/**
 * Checks a login before any curve arithmetic.
 * @param pathType the signature type of the path; `undefined` if the path accepts all types
 */
export function readLogin(
  headers: LoginHeaders,
  pathType: SignatureType | undefined,
  nowNs: TimeNs,
  { maxPastNs, maxFutureNs }: LoginWindow,
  findPublisher: FindPublisher,
): LoginClaim | LoginRefusal {
  const values = readHeaders(headers);
  if ('error' in values) return values;
  const { publicKey, timestamp, signature: signatureText, signatureType: type } = values;
  if (!isSignatureType(type))
    return malformedLogin(`X-Signature-Type is not ${SIGNATURE_TYPES.map((one) => `"${one}"`).join(' or ')}`);
  if (pathType !== undefined && type !== pathType)
    return {
      status: 403,
      reason: 'signature type',
      error: `X-Signature-Type is not "${pathType}", which this path takes`,
    };
  const { keyBytes } = SIGNATURES[type];
  // The key is read as a number, so leading zeros do not matter.
  const key =
    publicKey.length <= KEY_LENGTH_MAX
      ? parseHex(publicKey.replace(/^0x0+(?=[0-9a-fA-F])/, '0x'), keyBytes)
      : undefined;
  if (key === undefined) return malformedLogin(`X-Public-Key is not 0x and the hex of ${keyBytes} bytes`);
  const timestampNs = parseTimeNs(timestamp);
  if (timestampNs === undefined) return malformedLogin('X-Timestamp is not an integer of nanoseconds');
  const signature = parseSignature(signatureText, type);
  if (signature === undefined)
    return malformedLogin(`X-Signature is not 0x and the hex of ${signatureForm(type)}`);
  if (timestampNs < nowNs - maxPastNs)
    return { status: 401, reason: 'stale', error: `X-Timestamp is too old${perhapsCoarser(timestampNs)}` };
  if (timestampNs > nowNs + maxFutureNs)
    return { status: 401, reason: 'future', error: 'X-Timestamp lies in the future' };
  const publisher = findPublisher(type, key);
  if (publisher === undefined)
    return { status: 403, reason: 'unknown', error: 'X-Public-Key is not on the allow-list' };
  return { publisher, timestampNs, ...signature };
}

/** The refusal of a login with an invalid signature. */
export const LOGIN_NOT_SIGNED: LoginRefusal = {
  status: 401,
  reason: 'signature',
  error: 'X-Signature is not by X-Public-Key over X-Timestamp',
};

function signatureForm(type: SignatureType): string {
  return `${SIGNATURES[type].hasRecovery ? 'r, s and v' : 'r and s'}: ${signatureBytes(type)} bytes`;
}

function signatureBytes(type: SignatureType): number {
  return 2 * WORD_BYTES + (SIGNATURES[type].hasRecovery ? 1 : 0);
}

type LoginValues = { readonly [K in keyof typeof LOGIN_HEADERS]: string };

function readHeaders(headers: LoginHeaders): LoginValues | LoginRefusal {
  const values: Record<string, string> = {};
  for (const [field, name] of Object.entries(LOGIN_HEADERS)) {
    const [first, second] = headers.filter(([sent]) => sent === name);
    const title = name.replace(/(?<=^|-)./g, (letter) => letter.toUpperCase());
    if (first === undefined)
      return { status: 401, reason: 'missing', error: `the ${title} header is missing` };
    if (second !== undefined)
      return { status: 401, reason: 'repeated', error: `the ${title} header is repeated` };
    values[field] = first[1];
  }
  return values as LoginValues;
}

function malformedLogin(error: string): LoginRefusal {
  return { status: 401, reason: 'malformed', error };
}

function isSignatureType(text: string): text is SignatureType {
  return (SIGNATURE_TYPES as readonly string[]).includes(text);
}

/** Reads a signature. Each number in it must have all its digits. */
function parseSignature(
  text: string,
  type: SignatureType,
): { readonly signature: Buffer; readonly recovery: 0 | 1 } | undefined {
  const size = signatureBytes(type);
  const bytes = text.length === 2 + 2 * size ? parseHex(text, size) : undefined;
  if (bytes === undefined) return undefined;
  const signature = bytes.subarray(0, 2 * WORD_BYTES);
  if (size === signature.length) return { signature, recovery: 0 };
  const recovery = bytes[2 * WORD_BYTES]! - RECOVERY_OFFSET;
  return recovery === 0 || recovery === 1 ? { signature, recovery } : undefined;
}

/** The offset of the recovery bit in `v`, which is 0x1b or 0x1c. */
const RECOVERY_OFFSET = 27;
/** The largest length of a public key's text, including leading zeros. */
const KEY_LENGTH_MAX = 256;
