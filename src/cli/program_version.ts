import { readFileSync } from 'node:fs';

/** Returns the version of the installed package. */
export function programVersion(): string {
  const file = new URL('../../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
}

/** Returns the commit of the build, or `unknown`. The suffix `-dirty` means that files were changed after the commit. */
export function programCommit(): string {
  try {
    return readFileSync(new URL('../../commit', import.meta.url), 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
