import { FileError, type FileValue, readPlainYaml } from './plain_yaml.js';

/** A file of operators as the part of a link after `#`, or the reason why the file cannot be used, as a sentence. */
export type QuorumImport =
  | { readonly ok: true; readonly fragment: string }
  | { readonly ok: false; readonly reason: string };

const CHARACTERS_MAX = 100_000;
const FILE_KEYS = ['threshold', 'max_spread_percent', 'max_age', 'operators'];
const OPERATOR_KEYS = ['name', 'urls', 'signers', 'token'];
const MS_PER_UNIT: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/**
 * Turns a file of operators, as `tickseal subscribe --quorum` reads it, into a link. `token` names files and variables of another
 * machine, so the link has no token: the page asks for the tokens. The page names operators by their addresses, as for every link.
 */
export function importQuorum(text: string): QuorumImport {
  try {
    if (text.length > CHARACTERS_MAX) throw new Error('the file is too long');
    return { ok: true, fragment: fragmentOf(readPlainYaml(text)) };
  } catch (error) {
    return { ok: false, reason: `The file was not used: ${(error as Error).message}.` };
  }
}

function fragmentOf(file: FileValue): string {
  const fields = fieldsOf(file, FILE_KEYS, 'the file');
  const operators = listOf(required(file, fields, 'operators'), 'operators');
  const addresses: string[] = [];
  const keys: string[] = [];
  for (const [i, operator] of operators.entries()) {
    const at = `operators[${i}]`;
    const own = fieldsOf(operator, OPERATOR_KEYS, at);
    textOf(required(operator, own, 'name'), `${at}.name`);
    addresses.push(
      textsOf(required(operator, own, 'urls'), `${at}.urls`, /^(?:ws|http)s?:\/\/[^\s,|]+$/).join('|'),
    );
    keys.push(textsOf(required(operator, own, 'signers'), `${at}.signers`, /^0x[0-9a-fA-F]{40}$/).join());
  }
  const parameters = new URLSearchParams({ quorum: addresses.join().replace(/\bws(?=s?:\/\/)/g, 'http') });
  for (const key of keys) parameters.append('signer', key);
  for (const name of ['threshold', 'max_spread_percent'] as const) {
    const value = fields.get(name);
    if (value !== undefined) parameters.set(name, textOf(value, name, /^\d{1,9}(?:\.\d{1,9})?$/));
  }
  const age = fields.get('max_age');
  if (age !== undefined) {
    const text = textOf(age, 'max_age', /^\d{1,9}(?:ms|s|m|h)$/);
    const [, digits, unit] = /^(\d+)(\w+)$/.exec(text)!;
    parameters.set('max_age', `${Number(digits) * MS_PER_UNIT[unit!]!}ms`);
  }
  return `#${parameters}`;
}

function fieldsOf(value: FileValue, known: readonly string[], name: string): ReadonlyMap<string, FileValue> {
  if (value.kind !== 'map')
    throw new FileError(value.line, `${name} must be a mapping with ${known.join(', ')}`);
  for (const [key, { line }] of value.entries)
    if (!known.includes(key)) throw new FileError(line, `${name} has an unknown key ${key}`);
  return value.entries;
}

function required({ line }: FileValue, fields: ReadonlyMap<string, FileValue>, name: string): FileValue {
  const value = fields.get(name);
  if (value === undefined) throw new FileError(line, `${name} is missing`);
  return value;
}

function listOf(value: FileValue, name: string): readonly FileValue[] {
  if (value.kind !== 'list' || value.items.length === 0)
    throw new FileError(value.line, `${name} must be a list`);
  return value.items;
}

function textOf(value: FileValue, name: string, form = /./): string {
  if (value.kind !== 'text') throw new FileError(value.line, `${name} must be a text`);
  if (!form.test(value.text))
    throw new FileError(value.line, `${name} is invalid: ${value.text.slice(0, 80)}`);
  return value.text;
}

function textsOf(value: FileValue, name: string, form: RegExp): string[] {
  return listOf(value, name).map((item) => textOf(item, name, form));
}
