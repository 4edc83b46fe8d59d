import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';

/** Returns the licences of all packages in a bundle, because each copy of the bundle must include them. The licences begin with `first`. */
export function licencesOf(
  root: string,
  { inputs }: Pick<Metafile, 'inputs'>,
  first: readonly string[] = [],
): string {
  const packages = new Set(
    Object.keys(inputs).flatMap((input) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? []),
  );
  const own = `tickseal\n\n${readFileSync(join(root, 'LICENSE'), 'utf8')}`;
  const others = [...packages].sort().map((name) => licenceOf(root, name));
  return [own, ...first, ...others].join(`\n\n${'='.repeat(80)}\n\n`);
}

function licenceOf(root: string, name: string): string {
  const folder = join(root, 'node_modules', name);
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly version: string;
    readonly license: string;
  };
  const file = ['LICENSE', 'LICENSE.md', 'license'].map((one) => join(folder, one)).find(isFile);
  const text =
    file === undefined ? `Licence: ${license}. The package has no other text.` : readFileSync(file, 'utf8');
  return `${name} ${version}\n\n${text}`;
}

function isFile(file: string): boolean {
  try {
    return readFileSync(file).length > 0;
  } catch {
    return false;
  }
}
