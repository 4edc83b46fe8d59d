import { hash } from 'node:crypto';
import type { Sha256 } from './tree_hash.js';

/**
 * The SHA-256 of Node. The digest is first written as a string, because a separate buffer for each digest would take twice the time of the
 * hash. Code that also runs in browsers must not import this module.
 */
export const nodeSha256: Sha256 = (bytes) => Buffer.from(hash('sha256', bytes, 'binary'), 'binary');
