import { parseExactJson, type QuorumOptions } from '../index.js';
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

/** A file of operators as the part of a link after `#`, or the reason why the file cannot be used, as a sentence. */
export type QuorumImport =
  | { readonly ok: true; readonly fragment: string }
  | { readonly ok: false; readonly reason: string };

/** Separates the addresses of an operator. */
const ADDRESS_SEPARATOR = '|';
const AGE = /^(\d{1,9})(ms|s|m|h)$/;
const MS_PER_UNIT: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const CHARACTERS_MAX = 100_000;
const RULES = ['threshold', 'max_spread_percent', 'max_age'];
const FILE_KEYS = [...RULES, 'operators'];
const OPERATOR_KEYS = ['name', 'urls', 'signers', 'token'];
const ADDRESS = /^(?:ws|http)s?:\/\/[^\s,|]+$/;
const KEY = /^0x[0-9a-fA-F]{40}$/;

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
 * Turns a file of operators, as `tickseal subscribe --quorum` reads it, into a link. The file is JSON. `token` names files and
 * variables of another machine, so the link has no token: the page asks for the tokens. The page names operators by their addresses, as
 * for every link.
 */
export function importQuorum(text: string): QuorumImport {
  const fail = (reason: string): QuorumImport => ({
    ok: false,
    reason: `The file was not used: ${reason}.`,
  });
  const file = text.length > CHARACTERS_MAX ? undefined : parseExactJson(text.replace(/^\uFEFF/, ''));
  if (!isObject(file)) return fail(`it is no JSON object with ${FILE_KEYS.join(', ')}`);
  const { operators } = file;
  const unknown = unknownKey(file, FILE_KEYS);
  if (unknown !== undefined) return fail(`${unknown} is no key of it`);
  if (!Array.isArray(operators) || operators.length === 0) return fail('operators must be a list');
  const parameters = new URLSearchParams({ quorum: '' });
  const addresses: string[] = [];
  for (const [i, operator] of operators.entries()) {
    const at = `operators[${i}]`;
    if (!isObject(operator)) return fail(`${at} must be an object with ${OPERATOR_KEYS.join(', ')}`);
    const { urls, signers } = operator;
    const other = unknownKey(operator, OPERATOR_KEYS);
    if (other !== undefined) return fail(`${other} is no key of ${at}`);
    if (!areTexts(urls, ADDRESS)) return fail(`${at}.urls must be a list of addresses`);
    if (!areTexts(signers, KEY)) return fail(`${at}.signers must be a list of addresses of keys`);
    addresses.push(urls.join(ADDRESS_SEPARATOR).replace(/\bws(?=s?:\/\/)/g, 'http'));
    parameters.append('signer', signers.join());
  }
  parameters.set('quorum', addresses.join());
  for (const name of RULES) if (name in file) parameters.set(name, String(file[name]));
  return { ok: true, fragment: `#${parameters}` };
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

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unknownKey(fields: object, known: readonly string[]): string | undefined {
  return Object.keys(fields).find((key) => !known.includes(key));
}

function areTexts(value: unknown, form: RegExp): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => form.test(String(one)));
}
