import type { Caller } from './logins.js';

/**
 * A value for each caller. If a reload renames a caller, this class creates a new value, because the old name may now belong to
 * another caller.
 */
export class PerCaller<Value> {
  readonly #make: (caller: Caller) => Value;
  readonly #known = new WeakMap<Caller, { readonly identity: string; readonly value: Value }>();

  constructor(make: (caller: Caller) => Value) {
    this.#make = make;
  }

  of(caller: Caller): Value {
    let known = this.#known.get(caller);
    if (known?.identity !== caller.identity) {
      known = { identity: caller.identity, value: this.#make(caller) };
      this.#known.set(caller, known);
    }
    return known.value;
  }
}
