import { readText, toBase64 } from './log_text.js';
import { TlogError } from './tlog_error.js';
import { formatVerifierKey, KEY_TYPES, parseVerifierKey, type VerifierKey } from './verifier_key.js';

// The logs and witnesses that a reader trusts: C2SP tlog-policy.

/** A log whose checkpoints are accepted. */
export interface TrustedLog {
  /** The key; its name is the origin of the checkpoints. */
  readonly key: VerifierKey;
  readonly url: string | undefined;
}

/** A witness. Its name is only valid in this policy. */
export interface Witness {
  readonly name: string;
  readonly key: VerifierKey;
  readonly url: string | undefined;
}

/** The trusted logs, the witnesses, and the cosignatures that a checkpoint needs. */
export interface LogPolicy {
  readonly logs: readonly TrustedLog[];
  readonly witnesses: readonly Witness[];
  readonly isQuorum: IsQuorum;
}

/**
 * Returns whether the cosignatures of these witnesses suffice for a witness, a group or the policy. Witnesses have their names in the
 * policy.
 */
export type IsQuorum = (names: ReadonlySet<string>) => boolean;

export const POLICY_LENGTH_MAX = 64 * 1024;

/** Reads a policy file. @throws TlogError that names the first faulty line */
export function parsePolicy(input: string | Uint8Array): LogPolicy {
  const text = readText(input, POLICY_LENGTH_MAX, 'the policy');
  const reader = new PolicyReader();
  text.split('\n').forEach((line, i) => {
    try {
      reader.read(line);
    } catch (error) {
      if (error instanceof TlogError) throw new TlogError(`line ${i + 1} of the policy: ${error.message}`);
      throw error;
    }
  });
  return reader.policy();
}

/**
 * Returns the reason why readers with this policy could never accept a checkpoint of a log; `undefined` when they can.
 * @param vkey the log's verifier key as text
 */
export function policyFault({ logs, witnesses, isQuorum }: LogPolicy, vkey: string): string | undefined {
  if (logs.every(({ key }) => formatVerifierKey(key) !== vkey)) return `has no line "log ${vkey}"`;
  const asked = witnesses.filter(({ url }) => url !== undefined);
  const unusable = asked.find(({ url }) => !/^https?:$/.test(URL.parse(url!)?.protocol ?? ''));
  if (unusable !== undefined) return `the address of ${unusable.name} is not an http or https URL`;
  return isQuorum(new Set(asked.map(({ name }) => name)))
    ? undefined
    : 'the witnesses that have an address are no quorum';
}

class PolicyReader {
  readonly #logs: TrustedLog[] = [];
  readonly #witnesses: Witness[] = [];
  readonly #members = new Map<string, IsQuorum>();
  readonly #grouped = new Set<string>();
  readonly #publicKeys = new Set<string>();
  #quorum: IsQuorum | undefined;

  read(line: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the format forbids these characters
    if (/[\0-\x08\x0a-\x1f\x7f]/.test(line)) throw new TlogError('there is a control character');
    const [keyword, ...items] = line.split(/[ \t]+/).filter((item) => item !== '');
    if (keyword === undefined || keyword.startsWith('#')) return;
    if (keyword === 'log') this.#readLog(items);
    else if (keyword === 'witness') this.#readWitness(items);
    else if (keyword === 'group') this.#readGroup(items);
    else if (keyword === 'quorum') this.#setQuorum(items);
    else throw new TlogError(`"${keyword.slice(0, 40)}" is not log, witness, group or quorum`);
  }

  policy(): LogPolicy {
    if (this.#quorum === undefined) throw new TlogError('the policy has no quorum line');
    return { logs: this.#logs, witnesses: this.#witnesses, isQuorum: this.#quorum };
  }

  #readLog([text, url, ...rest]: readonly string[]): void {
    this.#logs.push({ key: this.#readKey(text, rest, true), url });
  }

  #readWitness([name, text, url, ...rest]: readonly string[]): void {
    const key = this.#readKey(text, rest, false);
    this.#defineMember(name!, (names) => names.has(name!));
    this.#witnesses.push({ name: name!, key, url });
  }

  #readGroup([name, threshold, ...names]: readonly string[]): void {
    if (names.length === 0) throw new TlogError('a group needs a name, a threshold and members');
    const members = names.map((member) => this.#memberNamed(member));
    for (const member of names) {
      if (this.#grouped.has(member)) throw new TlogError(`${member} is already in a group`);
      this.#grouped.add(member);
    }
    const count = thresholdOf(threshold!, members.length);
    this.#defineMember(name!, (cosigned) => members.filter((isQuorum) => isQuorum(cosigned)).length >= count);
  }

  #setQuorum([name, ...rest]: readonly string[]): void {
    if (name === undefined || rest.length > 0) throw new TlogError('quorum needs a single name');
    if (this.#quorum !== undefined) throw new TlogError('there is a second quorum line');
    this.#quorum = name === 'none' ? () => true : this.#memberNamed(name);
  }

  #defineMember(name: string, isQuorum: IsQuorum): void {
    if (name === 'none' || this.#members.has(name)) throw new TlogError(`${name} is already defined`);
    this.#members.set(name, isQuorum);
  }

  #memberNamed(name: string): IsQuorum {
    const member = this.#members.get(name);
    if (member === undefined) throw new TlogError(`${name} is not defined above`);
    return member;
  }

  /** Reads a key. A key may occur only once among the logs and only once among the witnesses, even with different names. */
  #readKey(text: string | undefined, rest: readonly string[], isLog: boolean): VerifierKey {
    if (text === undefined) throw new TlogError('a key is missing');
    if (rest.length > 0) throw new TlogError(`"${rest[0]!.slice(0, 40)}" is too much`);
    const key = parseVerifierKey(text);
    if ((key.type === KEY_TYPES.signature) !== isLog)
      throw new TlogError(`the key of ${key.name} has type ${key.type}, which is not supported here`);
    const id = `${key.type} ${toBase64(key.publicKey)}`;
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
