import type { QuorumOptions } from '../index.js';

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
const AGE = /^(\d{1,9})(ms|s)$/;

/**
 * Reads `#quorum=URL,URL,URL&signer=0x…&signer=0x…&signer=0x…&threshold=2&max_spread_percent=1&max_age=10s`. Each operator has a
 * `signer`, in the order of the addresses; several keys of an operator are separated by commas, and several addresses by `|`. The
 * client checks the addresses, the keys and the rules.
 * @throws RangeError for a link with a token, which belongs to one operator, without a signer for each operator, or with another age
 */
export function readQuorumLink(hash: string): LinkQuorum {
  const parameters = new URLSearchParams(hash.slice(1));
  if (parameters.has('token')) throw new RangeError('a link with several operators must not contain a token');
  const texts = (parameters.get('quorum') ?? '').split(',');
  const signers = parameters.getAll('signer');
  if (signers.length !== texts.length)
    throw new RangeError(`each of the ${texts.length} operators needs its own signer`);
  const operators = texts.map((text, i) => {
    const urls = text.split(ADDRESS_SEPARATOR);
    // The addresses name the operator, because a link could give any other name.
    const name = hostOf(urls[0]!) + (urls.length === 1 ? '' : ` and ${urls.length - 1} more`);
    return { name, urls, signers: signers[i]!.split(',') };
  });
  const [, age, unit] = AGE.exec(parameters.get('max_age') ?? '10s') ?? [];
  if (age === undefined) throw new RangeError('max_age must be a time such as 10s or 500ms');
  const numberOf = (name: string) => {
    const value = parameters.get(name);
    return value === null ? undefined : Number(value || Number.NaN);
  };
  return {
    operators,
    threshold: numberOf('threshold'),
    maxSpreadPercent: numberOf('max_spread_percent'),
    maxAgeMs: Number(age) * (unit === 's' ? 1_000 : 1),
  };
}

/** Adds an operator to a link, or makes the link of two operators from an operator. */
export function addOperator(
  hash: string,
  own: Pick<LinkOperator, 'urls' | 'signers'>,
  url: string,
  signer: string,
): string {
  const parameters = new URLSearchParams(hash.slice(1));
  if (!parameters.has('quorum')) {
    parameters.set('quorum', own.urls.join(ADDRESS_SEPARATOR));
    parameters.set('signer', own.signers.join());
  }
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

/** Returns the host of an address, with its path. */
export function hostOf(url: string): string {
  return url.replace(/^https?:\/\//, '').replace(/\/$/, '');
}
