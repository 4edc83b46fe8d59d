import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { writeCommit } from '../../scripts/build_commit.js';
import { isInstalled } from './prometheus.js';

test('a build writes the commit of its own source, and nothing that it does not know', async (t) => {
  const dir = t.testdir({ dist: {}, inner: { dist: {} }, 'a.txt': 'a', '.gitignore': 'dist\ninner\n' });
  const built = (root: string, env = {}) => {
    writeCommit(root, env);
    return readFileSync(join(root, 'dist/commit'), 'utf8');
  };
  const hash = 'ab'.repeat(20);
  t.equal(built(dir, { TICKSEAL_COMMIT: hash }), `${hash}\n`);
  t.throws(() => built(dir, { TICKSEAL_COMMIT: 'main"} 1' }), /no hash/);
  t.equal(built(dir), 'unknown\n', 'an archive in no repository, or in another one');
  if (!isInstalled('git')) return t.comment('skipped: there is no git');
  const git = (...args: string[]) => execFileSync('git', ['-C', dir, ...args], { encoding: 'utf8' }).trim();
  git('init', '--quiet');
  git('add', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '--quiet', '-m', 'a');
  t.equal(built(dir), `${git('rev-parse', 'HEAD')}\n`);
  writeFileSync(join(dir, 'a.txt'), 'b');
  t.equal(built(dir), `${git('rev-parse', 'HEAD')}-dirty\n`);
  t.equal(built(join(dir, 'inner')), 'unknown\n', 'an archive inside another repository');
});
