import { createHash } from 'node:crypto';
import type { Sha256 } from '../tlog/tree_hash.js';

/** Hashes natively. */
export const nodeSha256: Sha256 = (bytes) => createHash('sha256').update(bytes).digest();
