import { InvalidArgumentError } from 'commander';
import { readInstant } from '../model/instant.js';

/**
 * Reads an option's point in time: a time of RFC 3339, a day (its beginning in UTC), or UNIX nanoseconds.
 * @throws InvalidArgumentError for any other text
 */
export function parseInstant(text: string): bigint {
  const ns = readInstant(text);
  if (ns === undefined)
    throw new InvalidArgumentError(
      'expected a time such as 2026-11-20T12:00:00Z, a day, or UNIX nanoseconds',
    );
  return ns;
}
