/** Bytes that one permutation takes in: the rate of Keccak-256. */
export const BLOCK_BYTES = 136;
const BLOCK_LANES = BLOCK_BYTES / 8;
const LANES = 25;
export const STATE_BYTES = 8 * LANES;

/** The memory: the bytes to hash, the state, whose first 32 bytes are the digest at the end, and the constants. */
const PAGE_BYTES = 65_536;
export const ROOM_BYTES = BLOCK_BYTES * 476;
export const STATE_AT = ROOM_BYTES;
const ROUNDS = 24;
const CONSTANTS_AT = PAGE_BYTES - 8 * ROUNDS;

/** The exports of the module. */
export interface KeccakModule {
  readonly memory: { readonly buffer: ArrayBuffer };
  /**
   * Takes in the first blocks of the memory, which are padded already where they are the last ones.
   * @param blocks how many, at least 1
   * @param continues 1 to go on with the state in memory, 0 to begin a digest
   */
  readonly absorb: (blocks: number, continues: 0 | 1) => void;
}

/**
 * Keccak-f[1600] (FIPS 202, section 3) in WebAssembly, which has 64-bit integers and rotates them; its bytes are made here. JavaScript
 * writes into its memory and reads from there, so that a hash takes no array of its own.
 */
export function openKeccakModule(): KeccakModule {
  const module = new WebAssembly.Module(moduleBytes());
  const { memory, absorb } = new WebAssembly.Instance(module).exports as unknown as KeccakModule;
  new BigUint64Array(memory.buffer, CONSTANTS_AT, ROUNDS).set(roundConstants());
  return { memory, absorb };
}

/** The part of the global object that is used; the types of Node 20 have no declaration of it. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: object };
};

type Code = readonly number[];

/** The instructions, by their names in the specification of WebAssembly. */
const I32 = 0x7f;
const I64 = 0x7e;
const NO_RESULT = 0x40;
const END = 0x0b;
const XOR = 0x85;
const AND = 0x83;
const ROTL = 0x89;
const I32_ADD = 0x6a;
const I32_SUB = 0x6b;
const I32_LESS = 0x49;
const get = (local: number): Code => [0x20, ...unsigned(local)];
const set = (local: number): Code => [0x21, ...unsigned(local)];
const tee = (local: number): Code => [0x22, ...unsigned(local)];
const i32 = (value: number): Code => [0x41, ...signed(value)];
const i64 = (value: number): Code => [0x42, ...signed(value)];
/** An i64 at the address on the stack and `offset`. */
const load = (offset: number): Code => [0x29, 3, ...unsigned(offset)];
const store = (offset: number): Code => [0x37, 3, ...unsigned(offset)];
const when = (...body: Code[]): Code => [0x04, NO_RESULT, ...body.flat(), END];
/** Again while the last value of the body is not 0. */
const loop = (...body: Code[]): Code => [0x03, NO_RESULT, ...body.flat(), 0x0d, 0, END];

/** The locals of the function: its parameters, then its variables. */
const [LEFT, CONTINUES, FROM, ROUND] = [0, 1, 2, 3];
const I32_VARIABLES = 2;
const STATE = locals(4, LANES);
const NEXT_STATE = locals(29, LANES);
/** The parities of the columns, then one row before its last step. */
const ROW = locals(54, 5);
const CHANGE = locals(59, 5);
const I64_VARIABLES = 2 * LANES + 2 * 5;

function moduleBytes(): Uint8Array {
  const body = [
    ...[
      ...get(CONTINUES),
      ...when(...STATE.map((lane, i) => [...i32(STATE_AT), ...load(8 * i), ...set(lane)])),
    ],
    ...loop(
      ...STATE.slice(0, BLOCK_LANES).map((lane, i) => [
        ...[...get(lane), ...get(FROM), ...load(8 * i), XOR],
        ...set(lane),
      ]),
      [...i32(0), ...set(ROUND)],
      loop(
        round(STATE, NEXT_STATE, 0),
        round(NEXT_STATE, STATE, 1),
        [...get(ROUND), ...i32(16), I32_ADD, ...tee(ROUND)],
        [...i32(8 * ROUNDS), I32_LESS],
      ),
      [...get(FROM), ...i32(BLOCK_BYTES), I32_ADD, ...set(FROM)],
      [...get(LEFT), ...i32(1), I32_SUB, ...tee(LEFT)],
    ),
    ...STATE.flatMap((lane, i) => [...i32(STATE_AT), ...get(lane), ...store(8 * i)]),
    END,
  ];
  const variables = [2, I32_VARIABLES, I32, I64_VARIABLES, I64];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(TYPES, [1, 0x60, 2, I32, I32, 0]),
    ...section(FUNCTIONS, [1, 0]),
    ...section(MEMORIES, [1, 0, 1]),
    ...section(EXPORTS, [2, ...sized(text('memory')), 2, 0, ...sized(text('absorb')), 0, 0]),
    ...section(BODIES, [1, ...sized([...variables, ...body])]),
  ]);
}

/** One round; `number` 0 or 1 behind the one that {@link ROUND} points at. */
function round(from: readonly number[], to: readonly number[], number: 0 | 1): Code {
  const code: number[] = [];
  for (let x = 0; x < 5; x++) {
    code.push(...get(from[x]!));
    for (let y = 1; y < 5; y++) code.push(...get(from[x + 5 * y]!), XOR);
    code.push(...set(ROW[x]!));
  }
  for (let x = 0; x < 5; x++) {
    const right = [...get(ROW[(x + 1) % 5]!), ...i64(1), ROTL];
    code.push(...get(ROW[(x + 4) % 5]!), ...right, XOR, ...set(CHANGE[x]!));
  }
  for (let y = 0; y < 5; y++) {
    for (let x = 0; x < 5; x++) {
      // The lane that moves to x, y.
      const column = (3 * (y + 2 * x)) % 5;
      const lane = column + 5 * x;
      code.push(...get(from[lane]!), ...get(CHANGE[column]!), XOR);
      code.push(...i64(ROTATIONS[lane]!), ROTL, ...set(ROW[x]!));
    }
    for (let x = 0; x < 5; x++) {
      const second = get(ROW[(x + 2) % 5]!);
      // (not one) and second
      const mixed = [...get(ROW[(x + 1) % 5]!), ...second, AND, ...second, XOR];
      code.push(...get(ROW[x]!), ...mixed, XOR);
      if (x === 0 && y === 0) code.push(...get(ROUND), ...load(CONSTANTS_AT + 8 * number), XOR);
      code.push(...set(to[x + 5 * y]!));
    }
  }
  return code;
}

/** How far each lane is rotated. */
const ROTATIONS = rotations();

function rotations(): number[] {
  const all = new Array<number>(LANES).fill(0);
  let [x, y] = [1, 0];
  for (let t = 0; t < ROUNDS; t++) {
    all[x + 5 * y] = (((t + 1) * (t + 2)) / 2) % 64;
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  return all;
}

function roundConstants(): bigint[] {
  let bits = 1;
  return Array.from({ length: ROUNDS }, () => {
    let constant = 0n;
    for (let j = 0; j < 7; j++) {
      if (bits & 1) constant |= 1n << BigInt(2 ** j - 1);
      bits = (bits << 1) ^ (bits & 0x80 ? 0x171 : 0);
    }
    return constant;
  });
}

/** The sections of a module that are used. */
const [TYPES, FUNCTIONS, MEMORIES, EXPORTS, BODIES] = [1, 3, 5, 7, 10];

function section(id: number, content: Code): Code {
  return [id, ...sized(content)];
}

function sized(content: Code): Code {
  return [...unsigned(content.length), ...content];
}

function text(ascii: string): Code {
  return [...Buffer.from(ascii)];
}

/** An integer in LEB128. */
function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

/** The same with a sign, of an integer that is not below 0. */
function signed(value: number): Code {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signed(value >>> 7)];
}

function locals(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, i) => first + i);
}
