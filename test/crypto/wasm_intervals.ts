/** The range of all values that an integer can have. */
export type Interval = readonly [least: bigint, most: bigint];

/** A function of a module, with the code of the function. */
export interface ParsedFunction {
  readonly parameters: number;
  readonly locals: number;
  readonly code: Uint8Array;
}

/** The memory as intervals. A local and an offset name an address. */
export interface IntervalMemory {
  load(local: number, offset: number): Interval;
  /** Stores an interval in four bytes. */
  store(local: number, offset: number, value: Interval): void;
}

const I32 = signedRange(32n);
const I64 = signedRange(64n);
/** The largest number of rounds of a loop. A loop whose intervals still grow after these rounds has no bounds. */
const ROUNDS_MAX = 100;

function signedRange(bits: bigint): Interval {
  return [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
}

export function join([a, b]: Interval, [c, d]: Interval): Interval {
  return [a < c ? a : c, b > d ? b : d];
}

export function isWithin([a, b]: Interval, [least, most]: Interval): boolean {
  return a >= least && b <= most;
}

/** Reads the functions that a module of WebAssembly exports. Supports only modules as `openWasm` makes them. */
export function parseFunctions(module: Uint8Array): Map<string, ParsedFunction> {
  const sections = new Map<number, Reader>();
  const all = new Reader(module.subarray(8));
  while (!all.isAtEnd) {
    const id = all.byte();
    sections.set(id, new Reader(all.bytes(all.unsigned())));
  }
  const [types, exports, bodies] = [1, 7, 10].map((id) => sections.get(id)!) as [Reader, Reader, Reader];
  const parameters = types.list(() => {
    types.byte();
    const count = types.list(() => types.byte()).length;
    types.list(() => types.byte());
    return count;
  });
  const functions = bodies.list((i): ParsedFunction => {
    const body = new Reader(bodies.bytes(bodies.unsigned()));
    let locals = parameters[i]!;
    body.list(() => {
      locals += body.unsigned();
      body.byte();
    });
    return { parameters: parameters[i]!, locals, code: body.rest() };
  });
  const named = exports.list(() => {
    const name = Buffer.from(exports.bytes(exports.unsigned())).toString();
    return [name, exports.byte(), exports.unsigned()] as const;
  });
  return new Map(
    named.filter(([, kind]) => kind === 0).map(([name, , index]) => [name, functions[index]!] as const),
  );
}

interface Value {
  readonly interval: Interval;
  /** The local variable from which the value was read. */
  readonly local?: number;
}

interface Block {
  /** The local variables before the block. */
  before: Interval[];
  /** The start of the loop's body; `undefined` for other blocks. */
  readonly loopsTo: number | undefined;
  rounds: number;
}

/**
 * Runs a function with intervals instead of numbers. The intervals contain all possible values, for any inputs and any number of
 * rounds of the function's loops. Results of i32 arithmetic count as any i32 until a mask with a constant limits them.
 * @returns the largest absolute value of an i64
 * @throws RangeError when an i64 can overflow, when a stored number can need more than 32 bits, or when a loop's intervals still
 * grow after {@link ROUNDS_MAX} rounds
 */
export function runWithIntervals(
  { parameters, locals, code }: ParsedFunction,
  memory: IntervalMemory,
): bigint {
  const reader = new Reader(code);
  const stack: Value[] = [];
  const blocks: Block[] = [];
  let now = Array.from({ length: locals }, (_, i): Interval => (i < parameters ? I32 : [0n, 0n]));
  let largest = 0n;

  const push = (interval: Interval) => stack.push({ interval });
  const pop = () => stack.pop()!.interval;
  const pushSafe = (interval: Interval) => {
    if (!isWithin(interval, I64)) throw new RangeError(`an i64 is ${interval.join(' .. ')}`);
    for (const end of interval) if (end > largest || -end > largest) largest = end < 0n ? -end : end;
    push(interval);
  };
  const binary = (result: (a: Interval, b: Interval) => Interval) => {
    const [right, left] = [pop(), pop()];
    pushSafe(result(left, right));
  };

  const instructions: Readonly<Record<number, () => void>> = {
    // get, set
    32: () => {
      const local = reader.unsigned();
      stack.push({ interval: now[local]!, local });
    },
    33: () => {
      now[reader.unsigned()] = pop();
    },
    // i32 and i64 constants
    65: () => push(constant(reader.signed())),
    66: () => push(constant(reader.signed())),
    // i32: add, subtract, or
    106: () => binary(() => I32),
    107: () => binary(() => I32),
    114: () => binary(() => I32),
    // i32: and, shift left
    113: () => binary((_, mask) => (mask[0] >= 0n ? [0n, mask[1]] : I32)),
    116: () => binary((a, [by]) => (isWithin(a, [0n, 1n]) ? [a[0] << by, a[1] << by] : I32)),
    // i64: is equal, of an i32
    81: () => binary(() => [0n, 1n]),
    172: () => {},
    // i64: add, subtract, multiply, and, shift left, shift right
    124: () => binary((a, b) => [a[0] + b[0], a[1] + b[1]]),
    125: () => binary((a, b) => [a[0] - b[1], a[1] - b[0]]),
    126: () => binary(product),
    131: () => binary((a, [mask]) => (isWithin(a, [0n, mask]) ? a : [0n, mask])),
    134: () => binary((a, [by]) => [a[0] << by, a[1] << by]),
    135: () => binary((a, [by]) => [a[0] >> by, a[1] >> by]),
    // load an i32, load and store an i64 of 32 bits
    40: () => {
      reader.offset();
      pop();
      push(I32);
    },
    52: () => {
      const offset = reader.offset();
      push(memory.load(stack.pop()!.local!, offset));
    },
    62: () => {
      const offset = reader.offset();
      const value = pop();
      if (!isWithin(value, I32)) throw new RangeError(`${value.join(' .. ')} is stored`);
      memory.store(stack.pop()!.local!, offset, value);
    },
    // if, loop, branch to the loop, end
    4: () => {
      reader.byte();
      pop();
      blocks.push({ before: [...now], loopsTo: undefined, rounds: 0 });
    },
    3: () => {
      reader.byte();
      blocks.push({ before: [...now], loopsTo: reader.at, rounds: 0 });
    },
    13: () => {
      reader.unsigned();
      pop();
      const loop = blocks.at(-1)!;
      const joined = loop.before.map((interval, i) => join(interval, now[i]!));
      if (joined.every((interval, i) => isWithin(interval, loop.before[i]!))) return;
      loop.rounds += 1;
      if (loop.rounds > ROUNDS_MAX) throw new RangeError('a loop has no bounds');
      loop.before = joined;
      now = [...joined];
      reader.at = loop.loopsTo!;
    },
    11: () => {
      const block = blocks.pop();
      if (block !== undefined && block.loopsTo === undefined)
        now = now.map((interval, i) => join(interval, block.before[i]!));
    },
  };
  while (!reader.isAtEnd) {
    const instruction = reader.byte();
    const run = instructions[instruction];
    if (run === undefined) throw new TypeError(`the instruction ${instruction} is not known`);
    run();
  }
  return largest;
}

function constant(value: bigint): Interval {
  return [value, value];
}

function product([a, b]: Interval, [c, d]: Interval): Interval {
  return [constant(a * d), constant(b * c), constant(b * d)].reduce(join, constant(a * c));
}

/** Reads the bytes of a module. */
class Reader {
  readonly #content: Uint8Array;
  at = 0;

  constructor(content: Uint8Array) {
    this.#content = content;
  }

  get isAtEnd(): boolean {
    return this.at === this.#content.length;
  }

  byte(): number {
    const value = this.#content[this.at];
    if (value === undefined) throw new RangeError('the module ends too early');
    this.at += 1;
    return value;
  }

  bytes(count: number): Uint8Array {
    this.at += count;
    return this.#content.subarray(this.at - count, this.at);
  }

  rest(): Uint8Array {
    return this.#content.subarray(this.at);
  }

  list<T>(item: (index: number) => T): T[] {
    return Array.from({ length: this.unsigned() }, (_, i) => item(i));
  }

  unsigned(): number {
    return Number(this.#leb128().value);
  }

  signed(): bigint {
    const { value, bits } = this.#leb128();
    return BigInt.asIntN(bits, value);
  }

  /** Reads the offset, which follows the alignment. */
  offset(): number {
    this.unsigned();
    return this.unsigned();
  }

  #leb128(): { value: bigint; bits: number } {
    let [value, bits, byte] = [0n, 0, 0x80];
    while (byte & 0x80) {
      byte = this.byte();
      value |= BigInt(byte & 0x7f) << BigInt(bits);
      bits += 7;
    }
    return { value, bits };
  }
}
