import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { notesOf, releaseFaults, versionOfTag } from './checks.js';

// Releases the version of a tag. The program checks that all files have the tag's version, then packs and publishes the client.
// With `--dry-run`, the program publishes nothing: `node dist/scripts/release/main.js --dry-run`. `.github/workflows/release.yml`
// builds the image.

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CLIENT = 'tickseal-client';

const { values } = parseArgs({
  options: {
    tag: { type: 'string' },
    repository: { type: 'string' },
    'dry-run': { type: 'boolean', default: false },
  },
});
const own = readJson<Package>(join(ROOT, 'package.json'));
const { tag = `v${own.version}`, repository } = values;

const folder = mkdtempSync(join(tmpdir(), 'tickseal-release-'));
try {
  release(folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function release(dir: string): void {
  const changelog = readFileSync(join(ROOT, '.github/CHANGELOG.md'), 'utf8');
  const faults = releaseFaults({
    tag,
    versions: {
      'package.json': own.version,
      'package-lock.json': readJson<Package>(join(ROOT, 'package-lock.json')).version,
    },
    changelog,
  });
  // The registry refuses the provenance of a package that does not name the workflow's repository.
  if (!values['dry-run'] && repository === undefined)
    faults.push('--repository is missing: provenance needs it');
  if (faults.length > 0) {
    process.stderr.write(faults.map((fault) => `${fault}\n`).join(''));
    process.exitCode = 1;
    return;
  }
  const pack = [
    join(ROOT, 'dist/scripts/pack_client.js'),
    dir,
    ...(repository === undefined ? [] : [repository]),
  ];
  const tarball = run(process.execPath, pack).trim();
  const version = versionOfTag(tag)!;
  process.stdout.write(`release  ${tag}${values['dry-run'] ? ' (dry run: nothing is published)' : ''}
npm      ${CLIENT}@${version}, ${statSync(tarball).size} bytes packed
image    tickseal:${version}, from scripts/deploy/Dockerfile

${notesOf(changelog, version)}
`);
  if (!values['dry-run'])
    run('npm', [
      'publish',
      tarball,
      '--provenance',
      '--access',
      'public',
      '--ignore-scripts',
      ...channelOf(version),
    ]);
}

/**
 * Returns the arguments that choose the npm channel. A version such as `1.0.0-rc.1` must not become npm's default version.
 */
function channelOf(version: string): readonly string[] {
  return version.includes('-') ? ['--tag', 'next'] : [];
}

interface Package {
  readonly version: string;
}

function run(program: string, args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}

function readJson<T>(file: string): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}
