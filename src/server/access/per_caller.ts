import type { Caller } from './logins.js';

/** A value for each caller, made again when a reload has renamed the caller: the old name may then belong to another caller. */
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
