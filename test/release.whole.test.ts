import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'tap';
import { parse } from 'yaml';
import { ROOT } from './pages.js';

// Tests of the release that a tag triggers, and of the pages and forms in `.github`.

const GITHUB = join(ROOT, '.github');
const read = (name: string) => readFileSync(join(GITHUB, name), 'utf8');

test('the dry run packs the client and publishes nothing; a wrong tag fails', async (t) => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const dryRun = (...args: string[]) =>
    spawnSync(process.execPath, [join(ROOT, 'dist/scripts/release/main.js'), '--dry-run', ...args], {
      encoding: 'utf8',
    });
  const { status, stdout, stderr } = dryRun('--repository', 'git+https://example.com/prices/tickseal.git');
  t.equal(status, 0, stderr);
  t.match(stdout, `release  v${version} (dry run: nothing is published)`);
  t.match(stdout, new RegExp(`npm {6}tickseal-client@${version.replaceAll('.', '\\.')}, \\d+ bytes packed`));
  t.match(stdout, '### Added');
  const wrong = dryRun('--tag', 'v9.9.9');
  t.equal(wrong.status, 1);
  t.match(wrong.stderr, `package.json has version ${version}, the tag says 9.9.9`);
  t.match(wrong.stderr, 'CHANGELOG.md has no heading [9.9.9] with a date');
  const short = dryRun('--tag', 'v1.2');
  t.match([short.status, short.stderr], [1, /^the tag v1\.2 is not v and a semantic version$/m]);
});

interface Workflow {
  readonly permissions: object;
  readonly jobs: Readonly<Record<string, { readonly permissions?: Readonly<Record<string, string>> }>>;
}

test('workflows read by default, and name the commit of every action', async (t) => {
  for (const name of readdirSync(join(GITHUB, 'workflows'))) {
    const text = read(`workflows/${name}`);
    const { permissions, jobs } = parse(text) as Workflow;
    t.same(permissions, { contents: 'read' }, name);
    for (const [job, { permissions: own = {} }] of Object.entries(jobs))
      t.not(own['contents'], 'write', `${name}: ${job}`);
    for (const [, action = ''] of text.matchAll(/uses: (\S+)/g))
      t.match(action, /@[0-9a-f]{40}$/, `${name}: ${action}`);
    for (const [, script = ''] of text.matchAll(/dist\/(scripts\/[\w/]+)\.js/g))
      t.ok(existsSync(join(ROOT, `${script}.ts`)), `${name}: ${script}`);
  }
});

test('links of the pages lead somewhere', async (t) => {
  for (const page of ['CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md', 'pull_request_template.md']) {
    for (const [, target = ''] of read(page).matchAll(/\]\((?!https:)([^)#]+)\)/g))
      t.ok(existsSync(join(GITHUB, dirname(page), target)), `${page} → ${target}`);
  }
});
