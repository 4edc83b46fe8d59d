import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './pages.js';

/** The reason for a skipped test without packages. */
export const NOT_PREPARED = 'its packages are not prepared: bash scripts/quickstart_packages.sh';

/** Returns the folders of the packages that `scripts/quickstart_packages.sh` has installed, by name. */
export function preparedPackages(): ReadonlyMap<string, string> {
  const { stdout } = spawnSync('bash', [join(ROOT, 'scripts/quickstart_packages.sh'), '--prepared'], {
    encoding: 'utf8',
  });
  return new Map(
    stdout.split('\n').flatMap((line) => {
      const [name, folder] = line.split(' ');
      return folder === undefined ? [] : [[name!, folder] as const];
    }),
  );
}
