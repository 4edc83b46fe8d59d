import { execFileSync } from 'node:child_process';
import { realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes the commit of the source into `dist/commit`, for `--version` and `tickseal_build_info`. The commit is the variable
 * `TICKSEAL_COMMIT`, or the hash from git. The hash ends with `-dirty` when files differ from the commit. Without the variable and
 * without git, as in an unpacked archive, the text is `unknown`.
 */
export function writeCommit(root: string, { TICKSEAL_COMMIT }: NodeJS.ProcessEnv = process.env): void {
  const commit = TICKSEAL_COMMIT || (commitOf(root) ?? 'unknown');
  if (!COMMIT.test(commit)) throw new Error('TICKSEAL_COMMIT is no hash of a commit');
  writeFileSync(join(root, 'dist/commit'), `${commit}\n`);
}

const COMMIT = /^(?:[0-9a-f]{7,64}(?:-dirty)?|unknown)$/;

function commitOf(root: string): string | undefined {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', root, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    // The archive may have been unpacked inside another repository.
    if (git('rev-parse', '--show-toplevel') !== realpathSync(root)) return undefined;
    return git('describe', '--always', '--abbrev=40', '--dirty', '--exclude=*');
  } catch {
    return undefined;
  }
}
