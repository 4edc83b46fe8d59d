// SHA-256 of FIPS 180-4. This code is fast enough for the short texts that the client checks. In a bundle it has a fifth of the size of
// SHA-256 from @noble/hashes.

const BLOCK_BYTES = 64;
const START = fractionsOfRoots(8, 2);
const ROUND_CONSTANTS = fractionsOfRoots(64, 3);

/** Returns the SHA-256 of less than 512 MB, as 32 bytes. Keeps no reference to `bytes`. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(BLOCK_BYTES * Math.ceil((bytes.length + 9) / BLOCK_BYTES));
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 4, bytes.length * 8);
  const state = START.slice();
  for (let at = 0; at < padded.length; at += BLOCK_BYTES) compress(state, view, at);
  const hash = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => {
    hash.setInt32(4 * i, word);
  });
  return new Uint8Array(hash.buffer);
}

function compress(state: Int32Array, view: DataView, at: number): void {
  const words = new Int32Array(64);
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < 64; i += 1) {
    words[i] = i < 16 ? view.getInt32(at + 4 * i) : wordAfter(words, i);
    const sumOfE = rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25);
    const sumOfA = rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22);
    const first = h + sumOfE + ((e & f) ^ (~e & g)) + ROUND_CONSTANTS[i]! + words[i]!;
    const second = sumOfA + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => {
    state[i]! += word;
  });
}

/** Returns the next word of the message schedule, from the previous 16 words. */
function wordAfter(words: Int32Array, i: number): number {
  const near = words[i - 2]!;
  const far = words[i - 15]!;
  const nearSum = rotateRight(near, 17) ^ rotateRight(near, 19) ^ (near >>> 10);
  const farSum = rotateRight(far, 7) ^ rotateRight(far, 18) ^ (far >>> 3);
  return words[i - 16]! + farSum + words[i - 7]! + nearSum;
}

function rotateRight(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

/** Returns the first 32 bits of the fractional parts of the roots of the first primes. */
function fractionsOfRoots(count: number, degree: number): Int32Array {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n += 1) if (primes.every((prime) => n % prime > 0)) primes.push(n);
  return Int32Array.from(primes, (prime) => (prime ** (1 / degree) % 1) * 2 ** 32);
}
