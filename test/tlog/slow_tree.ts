import { createHash } from 'node:crypto';

// A slow, direct implementation of the definitions in RFC 6962 section 2.1, without code of `src/tlog`.

const sha256 = (...parts: readonly Uint8Array[]) =>
  new Uint8Array(createHash('sha256').update(Buffer.concat(parts)).digest());

/** Returns the root: MTH(D[n]). */
export function slowRoot(entries: readonly Uint8Array[]): Uint8Array {
  if (entries.length === 0) return sha256();
  if (entries.length === 1) return sha256(Uint8Array.of(0), entries[0]!);
  const k = splitOf(entries.length);
  return sha256(Uint8Array.of(1), slowRoot(entries.slice(0, k)), slowRoot(entries.slice(k)));
}

/** Returns the inclusion proof: PATH(m, D[n]). */
export function slowPath(m: number, entries: readonly Uint8Array[]): Uint8Array[] {
  if (entries.length <= 1) return [];
  const k = splitOf(entries.length);
  const [left, right] = [entries.slice(0, k), entries.slice(k)];
  return m < k ? [...slowPath(m, left), slowRoot(right)] : [...slowPath(m - k, right), slowRoot(left)];
}

/** Returns the consistency proof: PROOF(m, D[n]). */
export function slowProof(m: number, entries: readonly Uint8Array[], isWhole = true): Uint8Array[] {
  if (m === 0) return [];
  if (m === entries.length) return isWhole ? [] : [slowRoot(entries)];
  const k = splitOf(entries.length);
  const [left, right] = [entries.slice(0, k), entries.slice(k)];
  return m <= k
    ? [...slowProof(m, left, isWhole), slowRoot(right)]
    : [...slowProof(m - k, right, false), slowRoot(left)];
}

/** Returns the largest power of two below `count`. */
function splitOf(count: number): number {
  let k = 1;
  while (2 * k < count) k *= 2;
  return k;
}
