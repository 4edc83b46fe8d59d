// Keccak-256 as Ethereum uses it: the sponge of FIPS 202 with the padding of the submission to NIST. A lane of 64 bits is two
// 32-bit numbers, the lower number first.

const ROUNDS = 24;
/** The number of bytes that each permutation absorbs. */
const RATE = 136;
const LANES = 50;

/** The target lane for each step of rho and pi. `STEP_BITS` has the number of bits of each rotation. */
const STEP_LANES = stepLanes();
const STEP_BITS = Int32Array.from({ length: ROUNDS }, (_, step) => (((step + 1) * (step + 2)) / 2) % 64);
const ROUND_CONSTANTS = roundConstantsOf();
const COLUMNS = new Int32Array(10);

/** Returns the Keccak-256: 32 bytes. Does not keep `bytes`. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  const lanes = new Int32Array(LANES);
  const padded = new Uint8Array(RATE * (Math.floor(bytes.length / RATE) + 1));
  padded.set(bytes);
  padded[bytes.length] = 0x01;
  padded[padded.length - 1]! |= 0x80;
  const view = new DataView(padded.buffer);
  for (let at = 0; at < padded.length; at += RATE) {
    for (let i = 0; i < RATE / 4; i += 1) lanes[i]! ^= view.getInt32(at + 4 * i, true);
    permute(lanes);
  }
  const hash = new Uint8Array(32);
  const out = new DataView(hash.buffer);
  for (let i = 0; i < 8; i += 1) out.setInt32(4 * i, lanes[i]!, true);
  return hash;
}

function permute(lanes: Int32Array): void {
  for (let round = 0; round < ROUNDS; round += 1) {
    theta(lanes);
    rhoAndPi(lanes);
    for (let row = 0; row < LANES; row += 10) {
      for (let x = 0; x < 10; x += 1) COLUMNS[x] = lanes[row + x]!;
      for (let x = 0; x < 6; x += 1) lanes[row + x]! ^= ~COLUMNS[x + 2]! & COLUMNS[x + 4]!;
      for (let x = 6; x < 8; x += 1) lanes[row + x]! ^= ~COLUMNS[x + 2]! & COLUMNS[x - 6]!;
      for (let x = 8; x < 10; x += 1) lanes[row + x]! ^= ~COLUMNS[x - 8]! & COLUMNS[x - 6]!;
    }
    lanes[0]! ^= ROUND_CONSTANTS[2 * round]!;
    lanes[1]! ^= ROUND_CONSTANTS[2 * round + 1]!;
  }
}

function theta(lanes: Int32Array): void {
  for (let x = 0; x < 10; x += 1)
    COLUMNS[x] = lanes[x]! ^ lanes[x + 10]! ^ lanes[x + 20]! ^ lanes[x + 30]! ^ lanes[x + 40]!;
  for (let x = 0; x < 10; x += 2) {
    const low = COLUMNS[(x + 2) % 10]!;
    const high = COLUMNS[(x + 3) % 10]!;
    const lowChange = COLUMNS[(x + 8) % 10]! ^ ((low << 1) | (high >>> 31));
    const highChange = COLUMNS[(x + 9) % 10]! ^ ((high << 1) | (low >>> 31));
    for (let lane = x; lane < LANES; lane += 10) {
      lanes[lane]! ^= lowChange;
      lanes[lane + 1]! ^= highChange;
    }
  }
}

function rhoAndPi(lanes: Int32Array): void {
  let low = lanes[2]!;
  let high = lanes[3]!;
  for (let step = 0; step < ROUNDS; step += 1) {
    const lane = STEP_LANES[step]!;
    const bits = STEP_BITS[step]!;
    const nextLow = lanes[lane]!;
    const nextHigh = lanes[lane + 1]!;
    // For a rotation by 32 bits or more, the halves are exchanged. No rotation is by 0 or 32 bits.
    const a = bits < 32 ? low : high;
    const b = bits < 32 ? high : low;
    const shift = bits % 32;
    lanes[lane] = (a << shift) | (b >>> (32 - shift));
    lanes[lane + 1] = (b << shift) | (a >>> (32 - shift));
    low = nextLow;
    high = nextHigh;
  }
}

function stepLanes(): Int32Array {
  let [x, y] = [1, 0];
  return Int32Array.from({ length: ROUNDS }, () => {
    [x, y] = [y, (2 * x + 3 * y) % 5];
    return 2 * (5 * y + x);
  });
}

function roundConstantsOf(): Int32Array {
  const constants = new Int32Array(2 * ROUNDS);
  // A shift register makes 7 bits of each constant. The bits are at the places 2^j - 1.
  let register = 1;
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let j = 0; j < 7; j += 1) {
      const place = 2 ** j - 1;
      if ((register & 1) === 1) constants[2 * round + (place >> 5)]! |= 1 << (place % 32);
      register = register & 0x80 ? ((register << 1) ^ 0x171) & 0xff : register << 1;
    }
  }
  return constants;
}
