import {
  type Code,
  doWhile,
  get,
  i32,
  i32Add,
  i32IsBelow,
  i32Subtract,
  i64,
  i64And,
  i64Load,
  i64Rotate,
  i64Store,
  i64Xor,
  locals,
  openWasm,
  PAGE_BYTES,
  set,
  type WasmFunction,
  when,
} from './wasm_code.js';

/** The number of bytes that one permutation absorbs: the rate of Keccak-256. */
export const BLOCK_BYTES = 136;
const BLOCK_LANES = BLOCK_BYTES / 8;
const LANES = 25;
export const STATE_BYTES = 8 * LANES;

/**
 * The size of the memory for the bytes to hash. The state and the constants follow. At the end, the first 32 bytes of the state
 * are the digest.
 */
export const ROOM_BYTES = BLOCK_BYTES * 476;
export const STATE_AT = ROOM_BYTES;
const ROUNDS = 24;
const CONSTANTS_AT = PAGE_BYTES - 8 * ROUNDS;

/** The exports of the module. */
export interface KeccakModule {
  readonly memory: { readonly buffer: ArrayBuffer };
  /**
   * Absorbs the first blocks of the memory. The last blocks of a message must already be padded.
   * @param blocks the number of blocks, at least 1
   * @param continues 1 to continue with the state in memory, 0 to begin a new digest
   */
  readonly absorb: (blocks: number, continues: 0 | 1) => void;
}

/**
 * Opens Keccak-f[1600] (FIPS 202, section 3) in WebAssembly, which can rotate 64-bit integers. This file generates the bytes of the
 * module. JavaScript reads and writes the memory of the module directly, so a hash needs no additional array.
 */
export function openKeccakModule(): KeccakModule {
  const { memory, absorb } = openWasm([absorbFunction()], 1) as KeccakModule;
  new BigUint64Array(memory.buffer, CONSTANTS_AT, ROUNDS).set(roundConstants());
  return { memory, absorb };
}

/** The locals of the function: first its parameters, then its variables. */
const [LEFT, CONTINUES, FROM, ROUND] = [0, 1, 2, 3];
const STATE = locals(4, LANES);
const NEXT_STATE = locals(29, LANES);
/** The parities of the columns. Later in a round, these locals contain one row before its last step. */
const ROW = locals(54, 5);
const CHANGE = locals(59, 5);

function absorbFunction(): WasmFunction {
  const loadState = STATE.map((lane, i) => set(lane, i64Load(i32(STATE_AT), 8 * i)));
  const storeState = STATE.map((lane, i) => i64Store(i32(STATE_AT), get(lane), 8 * i));
  const takeIn = STATE.slice(0, BLOCK_LANES).map((lane, i) =>
    set(lane, i64Xor(get(lane), i64Load(get(FROM), 8 * i))),
  );
  const rounds = doWhile(
    [round(STATE, NEXT_STATE, 0), round(NEXT_STATE, STATE, 1), set(ROUND, i32Add(get(ROUND), i32(16)))],
    i32IsBelow(get(ROUND), i32(8 * ROUNDS)),
  );
  const blocks = doWhile(
    [
      ...takeIn,
      set(ROUND, i32(0)),
      rounds,
      set(FROM, i32Add(get(FROM), i32(BLOCK_BYTES))),
      set(LEFT, i32Subtract(get(LEFT), i32(1))),
    ],
    get(LEFT),
  );
  return {
    name: 'absorb',
    parameters: 2,
    i32Variables: 2,
    i64Variables: 2 * LANES + 2 * 5,
    body: [when(get(CONTINUES), ...loadState), blocks, storeState],
  };
}

/** Writes a round. `number` is 0 for the round to which {@link ROUND} points, and 1 for the next round. */
function round(from: readonly number[], to: readonly number[], number: 0 | 1): Code {
  const code: Code[] = [];
  for (let x = 0; x < 5; x++) {
    const column = [1, 2, 3, 4].reduce((sum, y) => i64Xor(sum, get(from[x + 5 * y]!)), get(from[x]!));
    code.push(set(ROW[x]!, column));
  }
  for (let x = 0; x < 5; x++) {
    const right = i64Rotate(get(ROW[(x + 1) % 5]!), i64(1n));
    code.push(set(CHANGE[x]!, i64Xor(get(ROW[(x + 4) % 5]!), right)));
  }
  for (let y = 0; y < 5; y++) {
    for (let x = 0; x < 5; x++) {
      // The column of the lane that moves to the place (x, y).
      const column = (3 * (y + 2 * x)) % 5;
      const lane = column + 5 * x;
      const changed = i64Xor(get(from[lane]!), get(CHANGE[column]!));
      code.push(set(ROW[x]!, i64Rotate(changed, i64(BigInt(ROTATIONS[lane]!)))));
    }
    for (let x = 0; x < 5; x++) {
      const second = get(ROW[(x + 2) % 5]!);
      // The operation is `(not first) and second`.
      const mixed = i64Xor(i64And(get(ROW[(x + 1) % 5]!), second), second);
      const value = i64Xor(get(ROW[x]!), mixed);
      const isFirst = x === 0 && y === 0;
      const constant = () => i64Load(get(ROUND), CONSTANTS_AT + 8 * number);
      code.push(set(to[x + 5 * y]!, isFirst ? i64Xor(value, constant()) : value));
    }
  }
  return code;
}

/** The number of bits by which each lane is rotated. */
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
