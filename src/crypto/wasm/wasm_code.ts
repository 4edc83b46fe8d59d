/** The bytes of a WebAssembly module, of instructions or of a part of a section. {@link openWasm} joins the parts. */
export type Code = number | readonly Code[];

/**
 * A function that a module exports. The locals of a function are first its parameters, which are all i32, then its i32 variables,
 * then its i64 variables.
 */
export interface WasmFunction {
  readonly name: string;
  readonly parameters: number;
  readonly i32Variables: number;
  readonly i64Variables: number;
  readonly body: Code;
}

export const PAGE_BYTES = 65_536;

/**
 * Opens a WebAssembly module with these functions. The module exports its memory as `memory`.
 * @param pages the number of pages of {@link PAGE_BYTES}; a page takes memory of the machine only after its first write
 * @returns the exports
 */
export function openWasm(functions: readonly WasmFunction[], pages: number): object {
  const names = functions.map(({ name }, i) => [text(name), FUNCTION, unsigned(i)]);
  const indexes = functions.map((_, i) => unsigned(i));
  const bytes = Uint8Array.from(
    bytesOf([
      [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
      section(TYPES, functions.map(typeOf)),
      section(FUNCTIONS, indexes),
      section(MEMORIES, [[0, unsigned(pages)]]),
      section(EXPORTS, [[text('memory'), MEMORY, 0], ...names]),
      section(BODIES, functions.map(bodyOf)),
    ]),
  );
  return new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
}

/** The part of the global object that this file uses. Node 20's types do not declare this object. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
};

/** Returns `count` consecutive locals. */
export function locals(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => first + i);
}

// The instructions, with the names of the WebAssembly specification. Each operand is the code that produces the operand.

export const get = (local: number): Code => [0x20, unsigned(local)];
export const set = (local: number, value: Code): Code => [value, 0x21, unsigned(local)];

export const i32 = (value: number): Code => [0x41, signed(BigInt(value))];
export const i64 = (value: bigint): Code => [0x42, signed(value)];

type Binary = (left: Code, right: Code) => Code;
const binary =
  (instruction: number): Binary =>
  (left, right) => [left, right, instruction];

export const i32Add: Binary = binary(0x6a);
export const i32Subtract: Binary = binary(0x6b);
export const i32Multiply: Binary = binary(0x6c);
export const i32And: Binary = binary(0x71);
export const i32Or: Binary = binary(0x72);
export const i32ShiftLeft: Binary = binary(0x74);
export const i32ShiftRightUnsigned: Binary = binary(0x76);
/** Compares signed numbers. The next function compares unsigned numbers. */
export const i32IsLess: Binary = binary(0x48);
export const i32IsBelow: Binary = binary(0x49);
export const i32TrailingZeros = (value: Code): Code => [value, 0x68];
export const i64Add: Binary = binary(0x7c);
export const i64Subtract: Binary = binary(0x7d);
export const i64Multiply: Binary = binary(0x7e);
export const i64And: Binary = binary(0x83);
export const i64Or: Binary = binary(0x84);
export const i64Xor: Binary = binary(0x85);
export const i64ShiftLeft: Binary = binary(0x86);
/** Shifts to the right and keeps the sign. */
export const i64ShiftRight: Binary = binary(0x87);
export const i64Rotate: Binary = binary(0x89);
export const i64IsEqual: Binary = binary(0x51);
export const i64IsUnequal: Binary = binary(0x52);
/** Extends an i32 to an i64 with the same sign. */
export const i64Of = (value: Code): Code => [value, 0xac];

// Loads and stores use the address plus `offset`.
const load =
  (instruction: number, alignment: number) =>
  (address: Code, offset = 0): Code => [address, instruction, alignment, unsigned(offset)];
const store =
  (instruction: number, alignment: number) =>
  (address: Code, value: Code, offset = 0): Code => [
    address,
    value,
    instruction,
    alignment,
    unsigned(offset),
  ];
export const i32Load = load(0x28, 2);
export const i64Load = load(0x29, 3);
export const i64Store = store(0x37, 3);
/** Loads four bytes with their sign. */
export const i64Load32 = load(0x34, 2);
export const i64Store32 = store(0x3e, 2);

export const when = (condition: Code, ...body: Code[]): Code => [condition, 0x04, NO_RESULT, body, END];
/** Runs the body, and repeats the body while the condition is not 0. */
export const doWhile = (body: readonly Code[], condition: Code): Code => [
  0x03,
  NO_RESULT,
  body,
  condition,
  0x0d,
  0,
  END,
];

const I32 = 0x7f;
const I64 = 0x7e;
const NO_RESULT = 0x40;
const END = 0x0b;

/** The section numbers and the kinds of exports that this file uses. */
const [TYPES, FUNCTIONS, MEMORIES, EXPORTS, BODIES] = [1, 3, 5, 7, 10];
const [FUNCTION, MEMORY] = [0, 2];

function typeOf({ parameters }: WasmFunction): Code {
  return [0x60, parameters, new Array<number>(parameters).fill(I32), 0];
}

function bodyOf({ i32Variables, i64Variables, body }: WasmFunction): Code {
  return withSize([2, unsigned(i32Variables), I32, unsigned(i64Variables), I64, body, END]);
}

function section(id: number, items: readonly Code[]): Code {
  return [id, withSize([unsigned(items.length), items])];
}

function withSize(content: Code): Code {
  const bytes = bytesOf(content);
  return [unsigned(bytes.length), bytes];
}

function bytesOf(code: Code, bytes: number[] = []): readonly number[] {
  if (typeof code === 'number') bytes.push(code);
  else for (const part of code) bytesOf(part, bytes);
  return bytes;
}

function text(ascii: string): Code {
  return withSize([...Buffer.from(ascii)]);
}

/** Encodes an unsigned integer in LEB128. */
function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, unsigned(value >>> 7)];
}

function signed(value: bigint): Code {
  if (value >= -0x40n && value < 0x40n) return [Number(value & 0x7fn)];
  return [Number(value & 0x7fn) | 0x80, signed(value >> 7n)];
}
