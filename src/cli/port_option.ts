import { InvalidArgumentError } from 'commander';

/**
 * Reads an option's port.
 * @throws InvalidArgumentError for any other text
 */
export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError('expected a port, 0 to 65535');
  return port;
}
