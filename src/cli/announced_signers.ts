import { secondText } from '../model/announcement_chain.js';
import { type AnnouncedSigner, aggregateKind, type SignerKind, typeOfKind } from '../wire/announcement.js';
import { DEFAULT_SIGNATURE_TYPE, SIGNATURE_TYPES, SIGNATURES } from '../wire/signatures.js';

/** The fields of an entry of `/v1/signers` that announcements need. */
interface ListedSigner {
  readonly address?: unknown;
  readonly signature_type?: unknown;
  readonly role?: unknown;
  readonly from?: unknown;
  readonly until?: unknown;
}

/** Reads the keys from an answer of `/v1/signers`. @throws Error when the text is not such an answer */
export function listedSigners(text: string): AnnouncedSigner[] {
  const data = dataOf(text);
  if (!Array.isArray(data)) throw new Error('--signers: the file is no answer of GET /v1/signers');
  const byName = new Map<string, AnnouncedSigner>();
  for (const entry of data as ListedSigner[]) {
    const kind = kindOf(entry);
    if (kind === undefined) continue;
    const { address, from = 0, until } = entry;
    if (typeof address !== 'string' || !/^0x[0-9a-fA-F]{40,64}$/.test(address))
      throw new Error(`--signers: ${JSON.stringify(address)} is no key`);
    if (!isSecond(from) || (until !== undefined && !isSecond(until)))
      throw new Error(`--signers: the times of ${address} are no UNIX seconds`);
    const digits = address.slice(2).padStart(2 * SIGNATURES[typeOfKind(kind)].keyBytes, '0');
    const signer = { kind, key: `0x${digits.toLowerCase()}`, fromS: from, untilS: until, isRevoked: false };
    byName.set(nameOf(signer), signer);
  }
  if (byName.size === 0) throw new Error('--signers: the answer names no key');
  return [...byName.values()];
}

/**
 * Returns the next list: the keys of a service, and the keys of the previous list that the service no longer has. The missing keys
 * end now, so readers can still verify their earlier signatures. Revoked keys stay revoked.
 * @throws Error when the service has a revoked key
 */
export function mergeSigners(
  before: readonly AnnouncedSigner[],
  now: readonly AnnouncedSigner[],
  nowS: number,
): AnnouncedSigner[] {
  const names = new Set(now.map(nameOf));
  const revoked = before.find((signer) => signer.isRevoked && names.has(nameOf(signer)));
  if (revoked !== undefined) throw new Error(`${revoked.key} is revoked, and the service still has it`);
  const former = before
    .filter((signer) => !names.has(nameOf(signer)))
    .map((signer) => ({ ...signer, untilS: Math.min(signer.untilS ?? nowS, Math.max(nowS, signer.fromS)) }));
  return [...now, ...former];
}

/** Returns what a list leaves open: the kinds of keys that end without a key that follows, or that no next key is named at all. */
export function openEnds(signers: readonly AnnouncedSigner[], nowS: number): string[] {
  const valid = signers.filter(({ isRevoked }) => !isRevoked);
  const ends = [...new Set(valid.map(({ kind }) => kind))].flatMap((kind) => {
    const untils = valid.filter((signer) => signer.kind === kind).map(({ untilS }) => untilS);
    if (untils.includes(undefined)) return [];
    const endS = Math.max(...untils.map(Number));
    return endS <= nowS
      ? []
      : [`no ${kind} key follows at ${secondText(endS)}: readers refuse all later prices`];
  });
  if (ends.length > 0 || valid.some(({ fromS }) => fromS > nowS)) return ends;
  return ['no next key is named: announce the next key before it signs'];
}

function dataOf(text: string): unknown {
  try {
    return (JSON.parse(text) as { data?: unknown } | null)?.data;
  } catch {
    return undefined;
  }
}

function kindOf({ role, signature_type }: ListedSigner): SignerKind | undefined {
  if (role === 'stream') return 'stream';
  if (role !== 'aggregate') return undefined;
  return aggregateKind(SIGNATURE_TYPES.find((type) => type === signature_type) ?? DEFAULT_SIGNATURE_TYPE);
}

function isSecond(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function nameOf({ kind, key }: AnnouncedSigner): string {
  return `${kind} ${key}`;
}
