import { type Price, parsePrice } from '../../model/price.js';
import { parseTimeNs, type TimeNs } from '../../model/time.js';
import { parseHexInteger } from './bytes.js';

/** The error for a field of a foreign text that is missing, or whose form differs from `/openapi.json`. */
export class FormError extends Error {}

/** The recovery bits by their text. Ethereum writes 27 or 28, and plain ECDSA writes 0 or 1. */
const RECOVERY: Readonly<Record<string, 0 | 1>> = { '0': 0, '1': 1, '27': 0, '28': 1 };

/** An object of unknown shape together with its place. An error can therefore name the whole path. */
export class FormReader {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(
    value: unknown,
    readonly path: string,
  ) {
    if (typeof value !== 'object' || value === null)
      throw new FormError(`${path || 'the value'} is not an object`);
    this.#values = value as Record<string, unknown>;
  }

  /** Returns the name of the only field that matches. Several matches are an error, because the right field is then unknown. */
  only(pattern: RegExp): string {
    const [name, ...others] = Object.keys(this.#values).filter((one) => pattern.test(one));
    if (name === undefined) throw new FormError('there is no field <service name>_signed_price');
    if (others.length > 0) {
      throw new FormError(
        `${[name, ...others].join(' and ')}: which one is the service's depends on its name`,
      );
    }
    return name;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#values, name);
  }

  text(name: string): string {
    const value = this.#values[name];
    return typeof value === 'string' ? value : this.#fail(name, 'is not a string');
  }

  /** Returns a text; `undefined` for an absent field. */
  optionalText(name: string): string | undefined {
    return this.has(name) ? this.text(name) : undefined;
  }

  integer(name: string): number {
    const value = this.#values[name];
    return Number.isSafeInteger(value) ? (value as number) : this.#fail(name, 'is not an integer');
  }

  /** Returns a truth value; `undefined` for an absent field. */
  optionalTruth(name: string): boolean | undefined {
    const value = this.#values[name];
    return value === undefined || typeof value === 'boolean'
      ? value
      : this.#fail(name, 'is not true or false');
  }

  /** Returns a list of texts. */
  texts(name: string): readonly string[] {
    return this.#list(name, 'text', (value) => typeof value === 'string') as string[];
  }

  /** Returns a list of numbers. */
  numbers(name: string): readonly number[] {
    return this.#list(name, 'number', (value) => typeof value === 'number') as number[];
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T {
    const value = this.text(name);
    return allowed.find((one) => one === value) ?? this.#fail(name, `is not one of ${allowed.join(', ')}`);
  }

  price(name: string): Price {
    return parsePrice(this.text(name)) ?? this.#fail(name, 'is not a price');
  }

  timestamp(name: string): TimeNs {
    const value = this.#values[name];
    if (typeof value === 'number' && !Number.isSafeInteger(value)) {
      this.#fail(name, 'has lost digits in a double: pass the JSON text');
    }
    const isDigits = typeof value === 'bigint' || typeof value === 'number' || typeof value === 'string';
    return (
      (isDigits ? parseTimeNs(String(value)) : undefined) ?? this.#fail(name, 'is not a nanosecond timestamp')
    );
  }

  /** Reads a hex integer of at most 32 bytes. The method puts `prefix` before the text of a field without `0x`. */
  hex(name: string, prefix = ''): bigint {
    return parseHexInteger(prefix + this.text(name)) ?? this.#fail(name, 'is not hex of at most 32 bytes');
  }

  recovery(name: string): 0 | 1 {
    return RECOVERY[String(this.hex(name))] ?? this.#fail(name, 'is not 0x1b, 0x1c, 0x0 or 0x1');
  }

  child(name: string): FormReader {
    return new FormReader(this.#values[name], this.#pathOf(name));
  }

  children(name: string): FormReader[] {
    return this.#array(name).map((value, i) => new FormReader(value, `${this.#pathOf(name)}[${i}]`));
  }

  #list(name: string, kind: string, isKind: (value: unknown) => boolean): readonly unknown[] {
    const values = this.#array(name);
    const other = values.findIndex((value) => !isKind(value));
    return other < 0 ? values : this.#fail(`${name}[${other}]`, `is not a ${kind}`);
  }

  #array(name: string): readonly unknown[] {
    const values = this.#values[name];
    return Array.isArray(values) ? values : this.#fail(name, 'is not an array');
  }

  #pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  #fail(name: string, problem: string): never {
    throw new FormError(`${this.#pathOf(name)} ${problem}`);
  }
}
