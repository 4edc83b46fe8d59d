import { hash } from 'node:crypto';
import type { Sha256 } from './tree_hash.js';

/**
 * The SHA-256 of Node. The digest passes through a text, because a buffer of its own memory for each digest would cost twice as much as the
 * hash. Code that also runs in browsers does not import this module.
 */
export const nodeSha256: Sha256 = (bytes) => Buffer.from(hash('sha256', bytes, 'binary'), 'binary');
