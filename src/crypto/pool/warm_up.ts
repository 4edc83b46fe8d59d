import type { Price } from '../../model/price.js';
import type { TimeNs } from '../../model/time.js';
import { KECCAK256_BYTES } from '../keccak.js';
import { starkPriceMessage } from '../stark/stark.js';

// The first jobs of each thread of the pool. The pool drops the signatures.

export const WARM_UP_KEY = Buffer.alloc(32, 1);

export const WARM_UP_DIGEST = Buffer.alloc(KECCAK256_BYTES, 1);

/** Messages that together use each window of the tables that ordinary prices use. */
export const WARM_UP_MESSAGES = [7n, 11n, 13n].map(
  (divisor) => starkPriceMessage('WARMUP', 'warmu', 0n as TimeNs, (10n ** 24n / divisor) as Price)!,
);
