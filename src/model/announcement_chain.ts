import {
  AGGREGATE_KINDS,
  ANNOUNCEMENTS_MAX,
  type AnnouncedList,
  type AnnouncedSigner,
  announcementMessage,
  NO_PREVIOUS,
  NO_ROOT,
  readAnnouncement,
  readHex,
  type SignerKind,
} from '../wire/announcement.js';

/** The hash function and the curve for announcements. A browser and a service use different libraries. */
export interface ChainCrypto {
  readonly keccak256: (bytes: Uint8Array) => Uint8Array;
  /**
   * Returns the 20 bytes of the address that signed.
   * @param signature r, s and v of 0 or 1: 65 bytes
   * @returns `undefined` when no key can have made the signature, and for a signature with a high s
   */
  readonly recover: (digest: Uint8Array, signature: Uint8Array) => Uint8Array | undefined;
}

/** The place of an announcement in its chain. */
export interface ChainPlace {
  readonly version: number;
  /** The digest in `0x` hex. */
  readonly digest: string;
}

/** The facts with which a reader checks a chain of announcements. */
export interface ChainTrust {
  /** The address of the root key that signs announcements. */
  readonly root?: string | undefined;
  /** The pinned keys of a reader without a root. One of these keys must sign the first announcement. */
  readonly keys?: readonly string[] | undefined;
  /** The current UNIX second. Without it, the check ignores expiry and waiting times. */
  readonly nowS?: number | undefined;
  /** The newest announcement that the reader accepted earlier. An older chain is a replay. */
  readonly known?: ChainPlace | undefined;
  /** The seconds that readers wait before they trust keys that a former key announced. */
  readonly waitS?: number | undefined;
  /** Returns the second at which a running reader first saw an announcement. */
  readonly firstSeenS?: ((digest: string) => number | undefined) | undefined;
}

/** The list in force, as a reader may use it. */
export interface ChainList extends ChainPlace, AnnouncedList {
  /** The address that signed the list, in lower-case hex. */
  readonly signedBy: string;
}

export type ChainResult =
  | {
      readonly ok: true;
      readonly list: ChainList;
      /** The newest announcement, which may not be in force yet. */
      readonly newest: ChainPlace;
      /** The second from which the newest list is in force; `undefined` if it is already in force. */
      readonly waitingUntilS: number | undefined;
    }
  /** The reason names the first refused announcement of the chain. */
  | { readonly ok: false; readonly reason: string };

/** The time that readers wait before they trust keys that a former key announced: 7 days. */
export const ANNOUNCEMENT_WAIT_S = 7 * 86_400;
/** The largest difference between the clocks of operator and reader. */
const CLOCK_S = 3_600;
/**
 * The time before and after a key's time span in which the key's signatures still count. Clocks differ, and frames take time to
 * arrive.
 */
export const KEY_GRACE_S = 60;

/**
 * Follows a chain of announcements from a pinned root or key to the list in force. Refuses the whole chain if one of these
 * statements is true:
 * - the root, or a former key in a chain without a root, has not signed an announcement,
 * - an announcement does not follow its predecessor,
 * - the chain is older than an announcement that the reader knows,
 * - the list in force has expired.
 */
export function followChain(texts: readonly string[], trust: ChainTrust, crypto: ChainCrypto): ChainResult {
  if (texts.length === 0) return refusedResult('the service announces no keys');
  if (texts.length > ANNOUNCEMENTS_MAX) return refusedResult(`more than ${ANNOUNCEMENTS_MAX} announcements`);
  const { known, nowS } = trust;
  let authority: Authority = startOf(trust);
  let before: ChainList | undefined;
  let inForce: ChainList | undefined;
  let waitingUntilS: number | undefined;
  let isKnown = known === undefined;
  for (const [index, text] of texts.entries()) {
    const read = readSigned(text, crypto);
    if (typeof read === 'string') return refusedResult(`announcement ${index + 1} of the chain: ${read}`);
    const fault =
      orderFault(read, before) ?? authorityFault(read, authority, before) ?? timeFault(read, before, nowS);
    const name = `announcement ${read.version}`;
    if (fault !== undefined) return refusedResult(`${name}: ${fault}`);
    if (known?.version === read.version) {
      if (known.digest !== read.digest)
        return refusedResult(`${name}: it is not the one that was accepted before`);
      isKnown = true;
    }
    if (known !== undefined && before === undefined && read.version > known.version) isKnown = true;
    // A waiting list delays all later lists, because later lists may depend on keys that are not trusted yet.
    if (waitingUntilS === undefined) waitingUntilS = waitOf(read, before, authority, trust);
    if (waitingUntilS === undefined) inForce = read;
    authority = nextAuthority(read);
    before = read;
  }
  if (!isKnown)
    return refusedResult(
      `announcement ${before!.version}: rolled back, version ${known!.version} was accepted before`,
    );
  const newest = { version: before!.version, digest: before!.digest };
  // The pinned keys count until the first list is in force.
  if (inForce === undefined) return waitingResult(before!, waitingUntilS!, trust, newest);
  if (nowS !== undefined && inForce.expiresS <= nowS)
    return refusedResult(`announcement ${inForce.version}: it expired at ${secondText(inForce.expiresS)}`);
  return { ok: true, list: inForce, newest, waitingUntilS };
}

/**
 * Follows a chain for the operator who made the chain. Trusts the first announcement, and ignores all times.
 * @returns the newest list, or the fault of the chain
 */
export function followOwnChain(texts: readonly string[], crypto: ChainCrypto): ChainResult {
  const first = texts[0] === undefined ? undefined : readSigned(texts[0], crypto);
  if (typeof first !== 'object') return followChain(texts, {}, crypto);
  const { root, signedBy } = first;
  return followChain(texts, root === NO_ROOT ? { keys: [signedBy] } : { root: signedBy }, crypto);
}

/** Returns the keys of some kinds that may sign at a UNIX second. */
export function keysAt(list: AnnouncedList, kinds: readonly SignerKind[], atS: number): string[] {
  return list.signers
    .filter(({ kind, isRevoked }) => !isRevoked && kinds.includes(kind))
    .filter(({ fromS }) => fromS - KEY_GRACE_S <= atS)
    .filter(({ untilS = Number.POSITIVE_INFINITY }) => atS < untilS + KEY_GRACE_S)
    .map(({ key }) => key);
}

/** Returns a UNIX second as a time in UTC. */
export function secondText(second: number): string {
  const time = new Date(second * 1000);
  return Number.isNaN(time.getTime()) ? `second ${second}` : time.toISOString().replace('.000Z', 'Z');
}

/** The root that must sign the next announcement; or the keys, any of which may sign. */
type Authority = { readonly root: string } | { readonly keys: readonly string[] };

function startOf({ root, keys = [] }: ChainTrust): Authority {
  return root === undefined ? { keys: keys.map(canonicalKey) } : { root: canonicalKey(root) };
}

/** The kind of the keys that may announce other keys, because contracts verify announcements too. */
const ANNOUNCING_KIND = 'evm aggregate' satisfies SignerKind;

function nextAuthority(list: AnnouncedList): Authority {
  if (list.root !== NO_ROOT) return { root: list.root };
  // Keys of streams are on edges, which are more exposed to attacks. Such keys may not announce other keys.
  const announcing = list.signers.filter(({ kind, isRevoked }) => kind === ANNOUNCING_KIND && !isRevoked);
  return { keys: announcing.map(({ key }) => key) };
}

function readSigned(text: string, crypto: ChainCrypto): ChainList | string {
  const read = readAnnouncement(text);
  if (typeof read === 'string') return read;
  const digest = crypto.keccak256(announcementMessage(read.body));
  const signer = crypto.recover(digest, read.signature);
  if (signer === undefined) return 'its signature is of nobody';
  return { ...read.list, digest: readHex(digest, 0, 32), signedBy: readHex(signer, 0, 20) };
}

function orderFault(read: ChainList, before: ChainList | undefined): string | undefined {
  if (before === undefined) {
    const isFirst = read.version === 1;
    return isFirst && read.previous !== NO_PREVIOUS ? 'the first one names one before it' : undefined;
  }
  if (read.version <= before.version) return `replayed, it comes after announcement ${before.version}`;
  if (read.version > before.version + 1)
    return `the chain breaks, announcement ${before.version + 1} is missing`;
  return read.previous === before.digest
    ? undefined
    : `the chain breaks, it does not follow announcement ${before.version} of this chain`;
}

function authorityFault(
  { signedBy, issuedS, root }: ChainList,
  authority: Authority,
  before: ChainList | undefined,
): string | undefined {
  if ('root' in authority) {
    if (signedBy !== authority.root) return `signed by ${signedBy}, not by the root ${authority.root}`;
    return root === NO_ROOT ? 'it names no root, but a root signed it' : undefined;
  }
  if (!authority.keys.includes(signedBy))
    return `signed by ${signedBy}, which may not announce: ${authority.keys.join(', ') || 'no key is pinned'}`;
  const own = before?.signers.find((one) => one.kind === ANNOUNCING_KIND && one.key === signedBy);
  if (own !== undefined && (issuedS < own.fromS || issuedS >= (own.untilS ?? Number.POSITIVE_INFINITY)))
    return `signed by ${signedBy}, which was not in force then`;
  return undefined;
}

function timeFault(
  { issuedS, expiresS }: ChainList,
  before: ChainList | undefined,
  nowS: number | undefined,
): string | undefined {
  if (before !== undefined && issuedS < before.issuedS) return `issued before announcement ${before.version}`;
  if (expiresS <= issuedS) return 'it expires before it is issued';
  if (nowS !== undefined && issuedS > nowS + CLOCK_S)
    return `issued in the future, at ${secondText(issuedS)}`;
  return undefined;
}

/** Returns the second from which a list that a former key signed is in force; `undefined` when the list is in force now. */
function waitOf(
  read: ChainList,
  before: ChainList | undefined,
  authority: Authority,
  { nowS, waitS = ANNOUNCEMENT_WAIT_S, firstSeenS, known }: ChainTrust,
): number | undefined {
  if (nowS === undefined || 'root' in authority || (before !== undefined && addsNothing(read, before)))
    return undefined;
  // A reader that has accepted this list or a later list has already waited.
  if (known !== undefined && read.version <= known.version) return undefined;
  const untilS = Math.max(read.issuedS, firstSeenS?.(read.digest) ?? 0) + waitS;
  return nowS < untilS ? untilS : undefined;
}

/**
 * Returns whether a list only removes keys or times. Such a list is in force immediately, because it cannot make a reader trust a
 * wrong key.
 */
function addsNothing(read: AnnouncedList, before: AnnouncedList): boolean {
  return (
    read.root === before.root && read.signers.every((one) => one.isRevoked || isWithin(one, before.signers))
  );
}

function isWithin(one: AnnouncedSigner, list: readonly AnnouncedSigner[]): boolean {
  const end = ({ untilS = Number.POSITIVE_INFINITY }: AnnouncedSigner) => untilS;
  return list.some(
    (other) =>
      !other.isRevoked &&
      other.kind === one.kind &&
      other.key === one.key &&
      other.fromS <= one.fromS &&
      end(one) <= end(other),
  );
}

function waitingResult(
  { digest, version, root, expiresS, signedBy }: ChainList,
  untilS: number,
  { keys = [] }: ChainTrust,
  newest: ChainPlace,
): ChainResult {
  const kinds = [...AGGREGATE_KINDS, 'stream'] as const;
  const signers = keys.flatMap((key) =>
    kinds.map((kind) => ({ kind, key: canonicalKey(key), fromS: 0, untilS: undefined, isRevoked: false })),
  );
  const list = {
    digest,
    version: version - 1,
    root,
    expiresS,
    signedBy,
    previous: NO_PREVIOUS,
    issuedS: 0,
    signers,
  };
  return { ok: true, list, newest, waitingUntilS: untilS };
}

function canonicalKey(key: string): string {
  return key.toLowerCase();
}

function refusedResult(reason: string): ChainResult {
  return { ok: false, reason };
}
