import { readFileSync } from 'node:fs';

/** Returns the version of the installed package. */
export function programVersion(): string {
  const file = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}
