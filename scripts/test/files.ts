import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The project's folder, with a slash behind it. */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
export const DIST = `${ROOT}dist/`;

/** The folder below `dist/test` that the runner writes itself. */
export const BUNDLES = 'test/together';

/** The tiers by their names: `x.test.ts` is fast, `x.whole.test.ts` and `x.long.test.ts` are not. */
export type Tier = 'fast' | 'whole' | 'long';

/** Paths of all compiled tests below {@link DIST}, without the bundles. */
export function testFiles(): string[] {
  return readdirSync(`${DIST}test`, { recursive: true, encoding: 'utf8' })
    .map((file) => `test/${file}`)
    .filter((file) => file.endsWith('.test.js') && !file.startsWith(`${BUNDLES}/`))
    .sort();
}

/** @param file the path of a compiled test, with or without its end */
export function tierOf(file: string): Tier {
  return (/\.(whole|long)(?:\.test\.js)?$/.exec(file)?.[1] as Tier | undefined) ?? 'fast';
}

/** The whole tier holds the fast one; the long tier has only its own. */
export function isOfTier(file: string, tier: Tier): boolean {
  return tierOf(file) === tier || (tier === 'whole' && tierOf(file) === 'fast');
}
