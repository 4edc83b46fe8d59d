import { InvalidArgumentError } from 'commander';
import { parseDurationNs } from '../config/quantity.js';
import { readInstant } from '../model/instant.js';
import { NS_PER_MS } from '../model/time.js';

/**
 * Reads an option's point in time: a time of RFC 3339, a day (its beginning in UTC), UNIX seconds or nanoseconds, or a duration before the
 * present, such as `-7d`.
 * @throws InvalidArgumentError for any other text
 */
export function parseInstant(text: string): bigint {
  const beforeNs = text.startsWith('-') ? parseDurationNs(text.slice(1)) : undefined;
  const ns = beforeNs === undefined ? readInstant(text) : BigInt(Date.now()) * NS_PER_MS - beforeNs;
  if (ns === undefined || ns < 0n)
    throw new InvalidArgumentError(
      'expected a time such as 2026-11-20T12:00:00Z, a day, -7d, or UNIX seconds or nanoseconds',
    );
  return ns;
}
