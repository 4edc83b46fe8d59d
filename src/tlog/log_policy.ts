import { readText, toBase64 } from './log_text.js';
import { TlogError } from './tlog_error.js';
import { KEY_TYPES, type KeyType, parseVerifierKey, type VerifierKey } from './verifier_key.js';

// The logs and witnesses that a reader trusts: C2SP tlog-policy.

/** A log whose checkpoints are accepted. */
export interface TrustedLog {
  /** The key; its name is the origin of the checkpoints. */
  readonly key: VerifierKey;
  readonly url: string | undefined;
}

/** A witness. Its name counts only inside the policy. */
export interface Witness {
  readonly name: string;
  readonly key: VerifierKey;
  readonly url: string | undefined;
}

/** The rule for the cosignatures that a checkpoint needs. */
export interface LogPolicy {
  readonly logs: readonly TrustedLog[];
  readonly witnesses: readonly Witness[];
  readonly isQuorum: IsQuorum;
}

/** Tells whether the cosignatures of these witnesses, by their names in the policy, suffice for a witness, a group or the policy. */
export type IsQuorum = (names: ReadonlySet<string>) => boolean;

export const POLICY_LENGTH_MAX = 64 * 1024;

/** Reads a policy file. @throws TlogError that names the line and the column of the first fault */
export function parsePolicy(input: string | Uint8Array): LogPolicy {
  const text = readText(input, POLICY_LENGTH_MAX, 'the policy');
  const reader = new PolicyReader();
  text.split('\n').forEach((line, i) => {
    try {
      reader.read(line);
    } catch (error) {
      if (error instanceof TlogError)
        throw new TlogError(`line ${i + 1}, column ${reader.column} of the policy: ${error.message}`);
      throw error;
    }
  });
  return reader.policy();
}

class PolicyReader {
  readonly #logs: TrustedLog[] = [];
  readonly #witnesses: Witness[] = [];
  readonly #members = new Map<string, IsQuorum>();
  readonly #grouped = new Set<string>();
  readonly #publicKeys = new Set<string>();
  #quorum: IsQuorum | undefined;
  /** The columns of the line's items, and after them that of its end. */
  #columns: number[] = [1];
  /** The item that is read; the keyword is item 0. */
  #item = 0;

  /** The column, from 1, of what was read last. */
  get column(): number {
    return this.#columns[Math.min(this.#item, this.#columns.length - 1)]!;
  }

  read(line: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the format forbids these characters
    const control = line.search(/[\0-\x08\x0a-\x1f\x7f]/);
    this.#item = 0;
    this.#columns = [control + 1];
    if (control >= 0) throw new TlogError('there is a control character');
    const found = [...line.matchAll(/[^ \t]+/g)];
    this.#columns = [...found.map(({ index }) => index + 1), line.length + 1];
    const [keyword, ...items] = found.map(([item]) => item);
    if (keyword === undefined || keyword.startsWith('#')) return;
    if (keyword === 'log') this.#log(items);
    else if (keyword === 'witness') this.#witness(items);
    else if (keyword === 'group') this.#group(items);
    else if (keyword === 'quorum') this.#setQuorum(items);
    else throw new TlogError(`"${keyword.slice(0, 40)}" is not log, witness, group or quorum`);
  }

  policy(): LogPolicy {
    if (this.#quorum === undefined) throw new TlogError('the policy has no quorum line');
    return { logs: this.#logs, witnesses: this.#witnesses, isQuorum: this.#quorum };
  }

  #log([text, url, ...rest]: readonly string[]): void {
    this.#logs.push({ key: this.#key(text, rest, KEY_TYPES.signature), url });
  }

  #witness([name, text, url, ...rest]: readonly string[]): void {
    const key = this.#key(text, rest, KEY_TYPES.cosignature, 2);
    this.#define(name!, (names) => names.has(name!));
    this.#witnesses.push({ name: name!, key, url });
  }

  #group([name, threshold, ...names]: readonly string[]): void {
    this.#item = names.length + 3;
    if (names.length === 0) throw new TlogError('a group needs a name, a threshold and members');
    const members = names.map((member, i) => this.#member(member, i + 3));
    for (const [i, member] of names.entries()) {
      this.#item = i + 3;
      if (this.#grouped.has(member)) throw new TlogError(`${member} is already in a group`);
      this.#grouped.add(member);
    }
    this.#item = 2;
    const count = thresholdOf(threshold!, members.length);
    this.#define(name!, (cosigned) => members.filter((isQuorum) => isQuorum(cosigned)).length >= count);
  }

  #setQuorum([name, ...rest]: readonly string[]): void {
    this.#item = rest.length > 0 ? 2 : 1;
    if (name === undefined || rest.length > 0) throw new TlogError('quorum needs a single name');
    this.#item = 0;
    if (this.#quorum !== undefined) throw new TlogError('there is a second quorum line');
    this.#quorum = name === 'none' ? () => true : this.#member(name, 1);
  }

  #define(name: string, isQuorum: IsQuorum): void {
    this.#item = 1;
    if (name === 'none' || this.#members.has(name)) throw new TlogError(`${name} is already defined`);
    this.#members.set(name, isQuorum);
  }

  #member(name: string, item: number): IsQuorum {
    this.#item = item;
    const member = this.#members.get(name);
    if (member === undefined) throw new TlogError(`${name} is not defined above`);
    return member;
  }

  /** Reads a key. Under any name, a key may occur at most once among the logs and at most once among the witnesses. */
  #key(text: string | undefined, rest: readonly string[], type: KeyType, item = 1): VerifierKey {
    this.#item = item;
    if (text === undefined) throw new TlogError('a key is missing');
    this.#item = item + 2;
    if (rest.length > 0) throw new TlogError(`"${rest[0]!.slice(0, 40)}" is too much`);
    this.#item = item;
    const key = parseVerifierKey(text);
    if (key.type !== type)
      throw new TlogError(`the key of ${key.name} has type ${key.type} instead of ${type}`);
    const id = `${type} ${toBase64(key.publicKey)}`;
    if (this.#publicKeys.has(id)) throw new TlogError(`the key of ${key.name} is already in the policy`);
    this.#publicKeys.add(id);
    return key;
  }
}

function thresholdOf(text: string, members: number): number {
  if (text === 'any') return 1;
  if (text === 'all') return members;
  const count = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : 0;
  if (count === 0 || count > members)
    throw new TlogError(`the threshold ${text.slice(0, 40)} is not any, all or 1 to ${members}`);
  return count;
}
