import { DEFAULT_SIGNATURE_TYPE, SIGNATURE_TYPES, SIGNATURES, type SignatureType } from './signatures.js';

// The bytes of an announcement: the list of the keys with which a service signs, signed by a root key or by a former key.
// All integers are big-endian. `TicksealAnnouncement.sol` reads the same bytes.
//
//     announcement: signature (65: r, s, v of 0 or 1) | body
//     body:         previous digest (32) | version (4) | issued (8) | expires (8) | root (20) | count (1) | entries
//     entry (49):   kind (1) | key (32) | from (8) | until (8)
//     digest:       Keccak-256 of 0xFF, the ASCII text `tickseal-signers/v1`, and the body
//
// The body of a streaming payload cannot begin with 0xFF and `t`, and EIP-191 messages begin with 0x19. So the signature of an
// announcement is never valid for another message, and no other signature is valid for an announcement.

/** The bytes before the body in the digest. */
export const ANNOUNCEMENT_DOMAIN: Uint8Array = Uint8Array.from([
  0xff,
  ...[...'tickseal-signers/v1'].map((character) => character.charCodeAt(0)),
]);

/** The use of a key: aggregates of a signature type, or streams. */
export type SignerKind = AggregateKind | 'stream';
type AggregateKind = `${SignatureType} aggregate`;

export function aggregateKind(type: SignatureType): AggregateKind {
  return `${type} aggregate`;
}

/** The kinds of aggregates, in the order of their signature types. */
export const AGGREGATE_KINDS = SIGNATURE_TYPES.map(aggregateKind);

/** Returns the signature type of the keys of a kind. */
export function typeOfKind(kind: SignerKind): SignatureType {
  return SIGNATURE_TYPES.find((type) => kind === aggregateKind(type)) ?? DEFAULT_SIGNATURE_TYPE;
}

/** The number of the kind `stream` in an entry. */
const STREAM_NUMBER = 3;
const KIND_NUMBERS: ReadonlyMap<SignerKind, number> = new Map<SignerKind, number>([
  ...SIGNATURE_TYPES.map((type) => [aggregateKind(type), SIGNATURES[type].recordByte] as const),
  ['stream', STREAM_NUMBER],
]);
const KINDS = new Map([...KIND_NUMBERS].map(([kind, number]) => [number, kind]));
const REVOKED_BIT = 0x80;

/** A key of an announced list. */
export interface AnnouncedSigner {
  readonly kind: SignerKind;
  /** The EVM address, or the x coordinate of the Stark key: `0x` and lower-case hex. */
  readonly key: string;
  /** The UNIX second from which the key signs; 0 for a key without a beginning. */
  readonly fromS: number;
  /** The UNIX second at which the key ends; `undefined` for a key without an end. */
  readonly untilS: number | undefined;
  /** True for a stolen key. All signatures of a stolen key are invalid, whatever their times. */
  readonly isRevoked: boolean;
}

/** The list of an announcement. */
export interface AnnouncedList {
  /** The digest of the preceding announcement, in `0x` hex; 32 zero bytes for the first announcement. */
  readonly previous: string;
  /** The version, which begins at 1 and grows by 1. */
  readonly version: number;
  readonly issuedS: number;
  /** The UNIX second from which the list no longer counts. */
  readonly expiresS: number;
  /** The address of the root key that signs the next announcement; zero in a chain that former keys sign. */
  readonly root: string;
  readonly signers: readonly AnnouncedSigner[];
}

/** The parts of an announcement's bytes. */
export interface ReadAnnouncement {
  readonly list: AnnouncedList;
  readonly signature: Uint8Array;
  readonly body: Uint8Array;
}

export const ANNOUNCEMENT_SIGNATURE_BYTES = 65;
export const ANNOUNCED_SIGNERS_MAX = 64;
/** The largest number of announcements that a service serves. An operator may leave out the oldest announcements. */
export const ANNOUNCEMENTS_MAX = 64;
export const NO_ROOT = `0x${'0'.repeat(40)}`;
export const NO_PREVIOUS = `0x${'0'.repeat(64)}`;

const HEADER_BYTES = 73;
const ENTRY_BYTES = 49;
const NO_END = 0xffffffffffffffffn;
const VERSION_MAX = 0xffffffff;

/** Returns the body of an announcement. The values must be in their ranges. */
export function encodeAnnouncedList(list: AnnouncedList): Uint8Array {
  const { previous, version, issuedS, expiresS, root, signers } = list;
  if (signers.length > ANNOUNCED_SIGNERS_MAX)
    throw new RangeError(`an announcement has at most ${ANNOUNCED_SIGNERS_MAX} keys`);
  const body = new Uint8Array(HEADER_BYTES + signers.length * ENTRY_BYTES);
  const view = new DataView(body.buffer);
  writeHex(previous, body, 0, 32);
  view.setUint32(32, version);
  view.setBigUint64(36, BigInt(issuedS));
  view.setBigUint64(44, BigInt(expiresS));
  writeHex(root, body, 52, 20);
  body[72] = signers.length;
  for (const [i, { kind, key, fromS, untilS, isRevoked }] of signers.entries()) {
    const at = HEADER_BYTES + i * ENTRY_BYTES;
    body[at] = KIND_NUMBERS.get(kind)! | (isRevoked ? REVOKED_BIT : 0);
    writeHex(key, body, at + 1, 32);
    view.setBigUint64(at + 33, BigInt(fromS));
    view.setBigUint64(at + 41, untilS === undefined ? NO_END : BigInt(untilS));
  }
  return body;
}

/**
 * Reads an announcement from `0x` hex.
 * @returns the announcement, or the fault of the text
 */
export function readAnnouncement(hex: string): ReadAnnouncement | string {
  const digits = /^0x((?:[0-9a-fA-F]{2})+)$/.exec(hex)?.[1];
  if (digits === undefined) return 'it is not 0x and hex digits';
  const length = digits.length / 2 - ANNOUNCEMENT_SIGNATURE_BYTES;
  const longest = HEADER_BYTES + ANNOUNCED_SIGNERS_MAX * ENTRY_BYTES;
  if (length < HEADER_BYTES || length > longest) return `${digits.length / 2} bytes are no announcement`;
  const bytes = new Uint8Array(digits.length / 2);
  writeHex(`0x${digits}`, bytes, 0, bytes.length);
  const body = bytes.slice(ANNOUNCEMENT_SIGNATURE_BYTES);
  const count = body[72]!;
  if (body.length !== HEADER_BYTES + count * ENTRY_BYTES) return `it is not as long as ${count} keys`;
  const view = new DataView(body.buffer);
  const second = (at: number) => Number(view.getBigUint64(at));
  const signers: AnnouncedSigner[] = [];
  for (let i = 0; i < count; i++) {
    const at = HEADER_BYTES + i * ENTRY_BYTES;
    const kind = KINDS.get(body[at]! & ~REVOKED_BIT);
    if (kind === undefined) return `key ${i + 1} is of the unknown kind ${body[at]}`;
    const keyAt = at + 33 - SIGNATURES[typeOfKind(kind)].keyBytes;
    const key = readHex(body, keyAt, at + 33);
    if (body.subarray(at + 1, keyAt).some((byte) => byte !== 0)) return `key ${i + 1} is no address`;
    const untilS = view.getBigUint64(at + 41) === NO_END ? undefined : second(at + 41);
    signers.push({ kind, key, fromS: second(at + 33), untilS, isRevoked: (body[at]! & REVOKED_BIT) !== 0 });
  }
  const list = {
    previous: readHex(body, 0, 32),
    version: view.getUint32(32),
    issuedS: second(36),
    expiresS: second(44),
    root: readHex(body, 52, 72),
    signers,
  };
  if (list.version === 0 || list.version === VERSION_MAX) return `its version is ${list.version}`;
  return { list, signature: bytes.slice(0, ANNOUNCEMENT_SIGNATURE_BYTES), body };
}

/** Returns the announcement as `0x` hex. */
export function announcementHex(signature: Uint8Array, body: Uint8Array): string {
  return readHex(signature, 0, signature.length) + readHex(body, 0, body.length).slice(2);
}

/** Returns the bytes whose Keccak-256 is the digest of an announcement. */
export function announcementMessage(body: Uint8Array): Uint8Array {
  const message = new Uint8Array(ANNOUNCEMENT_DOMAIN.length + body.length);
  message.set(ANNOUNCEMENT_DOMAIN);
  message.set(body, ANNOUNCEMENT_DOMAIN.length);
  return message;
}

/** Returns the announcements in the text of a file: the lines that are neither empty nor comments. */
export function announcementLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/**
 * Returns a part of some bytes as lower-case `0x` hex.
 * @param to not included
 */
export function readHex(bytes: Uint8Array, from: number, to: number): string {
  let text = '0x';
  for (let i = from; i < to; i++) text += bytes[i]!.toString(16).padStart(2, '0');
  return text;
}

function writeHex(hex: string, out: Uint8Array, at: number, size: number): void {
  const digits = hex.slice(2).padStart(size * 2, '0');
  for (let i = 0; i < size; i++) out[at + i] = Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16);
}
