import { fromBase64 } from './log_text.js';
import { sha256 as shortSha256 } from './short_sha256.js';
import { TlogError } from './tlog_error.js';

// The hashes of a Merkle tree: RFC 6962 section 2.1.

export const HASH_BYTES = 32;

/**
 * Returns the SHA-256. Keeps no reference to the bytes. The default function is small but slow, so a program that computes many hashes
 * passes a faster function.
 */
export type Sha256 = (bytes: Uint8Array) => Uint8Array;

const LEAF_PREFIX = 0;
const NODE_PREFIX = 1;

/** The bytes to hash. All calls share these arrays, because allocating an array takes as long as computing a hash. */
let leafBytes = new Uint8Array();
const nodeBytes = Uint8Array.from({ length: 1 + 2 * HASH_BYTES }, () => NODE_PREFIX);

export function leafHash(entry: Uint8Array, sha256: Sha256 = shortSha256): Uint8Array {
  // All leaves of a tree of records have the same length.
  if (leafBytes.length !== 1 + entry.length) leafBytes = new Uint8Array(1 + entry.length);
  leafBytes[0] = LEAF_PREFIX;
  leafBytes.set(entry, 1);
  return sha256(leafBytes);
}

export function nodeHash(left: Uint8Array, right: Uint8Array, sha256: Sha256 = shortSha256): Uint8Array {
  nodeBytes.set(left, 1);
  nodeBytes.set(right, 1 + HASH_BYTES);
  return sha256(nodeBytes);
}

/** Returns the root of the empty tree. */
export function emptyRoot(): Uint8Array {
  return shortSha256(new Uint8Array());
}

/** Returns the root over hashes of leaves, or over hashes of full subtrees of the same level. */
export function rootOf(hashes: readonly Uint8Array[], sha256: Sha256 = shortSha256): Uint8Array {
  let level = hashes;
  while (level.length > 1) {
    const children = level;
    const pairs = Math.floor(children.length / 2);
    const parents = Array.from({ length: pairs }, (_, i) =>
      nodeHash(children[2 * i]!, children[2 * i + 1]!, sha256),
    );
    // An odd last node moves up unchanged.
    level = children.length % 2 === 1 ? [...parents, children.at(-1)!] : parents;
  }
  return level[0] ?? emptyRoot();
}

/** Reads the Base64 text of a hash. @throws TlogError for any other text */
export function readHash(text: string, subject: string): Uint8Array {
  const hash = fromBase64(text);
  if (hash?.length !== HASH_BYTES) throw new TlogError(`${subject} is not a hash in Base64`);
  return hash;
}
