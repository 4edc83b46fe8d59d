import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'tap';
import type * as PageFiles from '../../src/server/live_page/page_files.js';
import { ADMIN_PATHS, PAGE_PATHS } from '../../src/wire/paths.js';
import { ROOT } from '../pages.js';
import { runProgram } from '../run_program.js';

const DOCKERFILE = readFileSync(join(ROOT, 'scripts/deploy/Dockerfile'), 'utf8');

/** Returns the last stage of the Dockerfile, which becomes the image. */
function lastStage(): string {
  return DOCKERFILE.split(/^FROM /m).at(-1)!;
}

/** Returns the files and folders that the first stage copies from the project's root. Each path stays the same. */
function copied(): string[] {
  const lines = [...DOCKERFILE.matchAll(/^COPY (?!--from)(.*) \S+$/gm)];
  return lines.flatMap(([, sources = '']) => sources.split(' '));
}

test('the image runs as a user without rights and says whether it is ready', async (t) => {
  const stage = lastStage();
  t.match(stage, /^USER node$/m);
  t.match(stage, `http://127.0.0.1:9090${ADMIN_PATHS.ready}`);
  t.match(stage, /^COPY --from=build \/build\/dist\/src dist\/src$/m, 'only what was built is in it');
  t.notMatch(stage, /npm (?:ci|install)/);
});

test('what the image copies is there, and not left out of its context', async (t) => {
  const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
  for (const source of copied()) {
    t.ok(existsSync(join(ROOT, source)), source);
    const isKept = ignored.some((line) => line === `!${source}` || `!${source}`.startsWith(`${line}/`));
    t.ok(isKept, `${source} is in the context`);
  }
});

test('what the image copies is enough to build it, and what was built is in the image', async (t) => {
  const dir = t.testdir({ build: {}, image: {} });
  const [build, image] = [join(dir, 'build'), join(dir, 'image')];
  // .dockerignore excludes the files that the build generates.
  const filter = (path: string) => !path.endsWith('/generated');
  for (const source of copied()) cpSync(join(ROOT, source), join(build, source), { recursive: true, filter });
  symlinkSync(join(ROOT, 'node_modules'), join(build, 'node_modules'));
  await runProgram('npm', ['run', '--silent', 'prepare'], build);
  for (const [, from = ''] of lastStage().matchAll(/^COPY --from=build \/build\/(\S+) (\S+)$/gm))
    cpSync(join(build, from), join(image, from), { recursive: true });
  const built = (path: string) => pathToFileURL(join(image, 'dist/src', path)).href;
  const { loadPages } = (await import(built('server/live_page/page_files.js'))) as typeof PageFiles;
  t.ok(loadPages().has(PAGE_PATHS.home), 'the live page is in it');
  t.ok(loadPages().has(PAGE_PATHS.documents), 'the documents are in it');
  t.match(await runProgram('node', ['dist/src/cli/main.js', '--version'], image), /^\d/, 'the program runs');
});

test('the check of its health fails where nothing answers', async (t) => {
  const [, command] = /CMD \["node", "-e", "(.*)"\]/.exec(lastStage()) ?? [];
  t.ok(command !== undefined);
  // Nothing listens on port 1.
  const { status } = spawnSync(process.execPath, ['-e', command!.replace(':9090', ':1')]);
  t.equal(status, 1);
});
