import type { QuorumOptions } from '../index.js';
import { keyTypeOf } from './pins.js';

/** A link to the page with the prices of several operators. */
export type QuorumLink =
  | { readonly ok: true; readonly quorum: LinkQuorum }
  /** The reason why the link cannot be used, as a sentence. */
  | { readonly ok: false; readonly reason: string };

/** The operators of a link, and the rules for their agreement. */
export interface LinkQuorum extends QuorumOptions {
  readonly operators: readonly LinkOperator[];
  readonly maxAgeMs: number;
}

/** An operator of a link. */
export interface LinkOperator {
  readonly name: string;
  /** The addresses of the operator's services, at least one. */
  readonly urls: readonly string[];
  readonly signers: readonly string[];
  readonly token?: string;
}

/** Separates the addresses of an operator. */
const ADDRESS_SEPARATOR = '|';
const AGE = /^(\d{1,9})(ms|s|m|h)$/;
const MS_PER_UNIT: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
/** Recognises the link to the page with the prices of several operators. */
export function isQuorumLink(hash: string): boolean {
  return new URLSearchParams(hash.replace(/^#/, '')).has('quorum');
}

/**
 * Reads `#quorum=URL,URL,URL&signer=0x…&signer=0x…&signer=0x…&threshold=2&max_spread_percent=1&max_age=10s`. Each operator has a
 * `signer`, in the order of the addresses; several keys of an operator are separated by commas, and several addresses by `|`. A token
 * belongs to one operator, so a link with a token is refused.
 */
export function readQuorumLink(hash: string): QuorumLink {
  const parameters = new URLSearchParams(hash.replace(/^#/, ''));
  const fail = (reason: string): QuorumLink => ({ ok: false, reason });
  if (parameters.has('token')) return fail('A link with several operators must not contain a token.');
  const texts = listOf(parameters.get('quorum') ?? '');
  const signers = parameters.getAll('signer').map(listOf);
  if (signers.length !== texts.length)
    return fail(
      `The link names ${texts.length} operators and the keys of ${signers.length}: each needs its own signer.`,
    );
  const operators: LinkOperator[] = [];
  for (const [i, text] of texts.entries()) {
    const urls: string[] = [];
    for (const one of text.split(ADDRESS_SEPARATOR)) {
      const url = serviceAddress(one);
      if (url === undefined) return fail(`The link's operator ${one} is not the address of a service.`);
      urls.push(url);
    }
    const keys = signers[i]!;
    const wrong = keys.find((key) => keyTypeOf(key) !== 'evm');
    if (wrong !== undefined || keys.length === 0)
      return fail(`The link's signer ${wrong ?? i + 1} is not an address of a key.`);
    operators.push({ name: nameOf(urls), urls, signers: keys });
  }
  const [, age, unit] = AGE.exec(parameters.get('max_age') ?? '10s') ?? [];
  if (age === undefined) return fail('The link’s max_age is not a time such as 10s or 500ms.');
  const numberOf = (name: string) => {
    const value = parameters.get(name);
    return value === null ? undefined : value === '' ? Number.NaN : Number(value);
  };
  return {
    ok: true,
    quorum: {
      operators,
      threshold: numberOf('threshold'),
      maxSpreadPercent: numberOf('max_spread_percent'),
      maxAgeMs: Number(age) * MS_PER_UNIT[unit!]!,
    },
  };
}

/** Adds an operator to a link, or makes the link of two operators from an operator. */
export function addOperator(hash: string, own: LinkOperator, url: string, signer: string): string {
  const first = { quorum: own.urls.join(ADDRESS_SEPARATOR), signer: own.signers.join() };
  const parameters = new URLSearchParams(isQuorumLink(hash) ? hash.replace(/^#/, '') : first);
  parameters.set('quorum', `${parameters.get('quorum')},${url.trim()}`);
  parameters.append('signer', signer.trim());
  return `#${parameters}`;
}

/**
 * Returns the name under which a tab keeps an operator's token. The token belongs to all of the operator's addresses, so a link that adds
 * an address does not find it.
 */
export function tokenName(urls: readonly string[]): string {
  return `tickseal.token ${urls.join(ADDRESS_SEPARATOR)}`;
}

/** Returns the hosts of addresses, with their paths. */
export function hostsOf(urls: readonly string[]): string[] {
  return urls.map((url) => url.replace(/^https?:\/\//, ''));
}

/** Names an operator by its addresses, because a link could give any other name. */
function nameOf(urls: readonly string[]): string {
  const [first] = hostsOf(urls);
  return urls.length === 1 ? first! : `${first} and ${urls.length - 1} more`;
}

/** Returns the normal form of a service's address; `undefined` for other texts. */
function serviceAddress(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const { origin, pathname, search, hash, username, password } = new URL(text);
  if (`${search}${hash}${username}${password}` !== '') return undefined;
  return origin + pathname.replace(/\/+$/, '');
}

function listOf(text: string): string[] {
  return text === '' ? [] : text.split(',');
}
