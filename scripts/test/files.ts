import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The project's folder, with a slash at its end. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
export const DIST = `${ROOT}dist/`;

/** The folder below `dist/test` that the test runner writes. */
export const BUNDLES = 'test/together';

/** The tiers. The file names `x.whole.test.ts` and `x.long.test.ts` mark the slower tiers, and any other `x.test.ts` is fast. */
export type Tier = 'fast' | 'whole' | 'long';

/** Returns the paths of all compiled tests below {@link DIST}, without the bundles. */
export function testFiles(): string[] {
  return readdirSync(`${DIST}test`, { recursive: true, encoding: 'utf8' })
    .map((file) => `test/${file}`)
    .filter((file) => file.endsWith('.test.js') && !file.startsWith(`${BUNDLES}/`))
    .sort();
}

/** @param file the path of a compiled test, with or without its extension */
export function tierOf(file: string): Tier {
  return (/\.(whole|long)(?:\.test\.js)?$/.exec(file)?.[1] as Tier | undefined) ?? 'fast';
}

/** Returns whether a file runs in a tier. The whole tier includes the fast tier. The long tier has only its own files. */
export function isOfTier(file: string, tier: Tier): boolean {
  return tierOf(file) === tier || (tier === 'whole' && tierOf(file) === 'fast');
}
