import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

// Releases the version of a tag. The program checks that all files have the tag's version, then packs and publishes the client.
// With `--dry-run`, the program publishes nothing: `node dist/scripts/release/main.js --dry-run`. `.github/workflows/release.yml`
// builds the image.

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CLIENT = 'tickseal-client';
const TAG = /^v(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)$/;

const { values } = parseArgs({
  options: {
    tag: { type: 'string' },
    repository: { type: 'string' },
    'dry-run': { type: 'boolean', default: false },
  },
});
const isDry = values['dry-run'];
const versions = Object.fromEntries(
  ['package.json', 'package-lock.json'].map((file) => [file, versionIn(file)] as const),
);
const { tag = `v${versions['package.json']}`, repository } = values;
const version = TAG.exec(tag)?.[1];
const changelog = readFileSync(join(ROOT, '.github/CHANGELOG.md'), 'utf8');
const notes = version === undefined ? undefined : notesOf(version);
const faults = [
  ...(version === undefined ? [`the tag ${tag} is not v and a semantic version`] : []),
  ...Object.entries(versions)
    .filter(([, found]) => found !== version)
    .map(([name, found]) => `${name} has version ${found}, the tag says ${version}`),
  ...(/^## \[Unreleased\]$/m.test(changelog) ? [] : ['CHANGELOG.md has no heading [Unreleased]']),
  ...(notes ? [] : [`CHANGELOG.md has no heading [${version}] with a date and a text`]),
  // The registry refuses the provenance of a package that does not name the workflow's repository.
  ...(isDry || repository !== undefined ? [] : ['--repository is missing: provenance needs it']),
];
if (faults.length > 0) {
  process.stderr.write(faults.map((fault) => `${fault}\n`).join(''));
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), 'tickseal-release-'));
try {
  const pack = [join(ROOT, 'dist/scripts/pack_client.js'), folder, repository ?? []].flat();
  const tarball = run(process.execPath, pack).trim();
  process.stdout.write(`release  ${tag}${isDry ? ' (dry run: nothing is published)' : ''}
npm      ${CLIENT}@${version}, ${statSync(tarball).size} bytes packed
image    tickseal:${version}, from scripts/deploy/Dockerfile

${notes}
`);
  // A version such as `1.0.0-rc.1` must not become npm's default version.
  const channel = version!.includes('-') ? ['--tag', 'next'] : [];
  if (!isDry)
    run('npm', ['publish', tarball, '--provenance', '--access', 'public', '--ignore-scripts', ...channel]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Reads the notes of a version: the text from the version's heading, which has a date, to the next heading. */
function notesOf(wanted: string): string | undefined {
  const section = changelog.split(/^## /m).find((text) => text.startsWith(`[${wanted}] - `));
  const [, text] = /^.* - \d{4}-\d\d-\d\d\n([\s\S]*)$/.exec(section ?? '') ?? [];
  return text?.replace(/^\[[^\]]+\]: .*$/gm, '').trim();
}

function versionIn(file: string): string {
  return (JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as { version: string }).version;
}

function run(program: string, args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
