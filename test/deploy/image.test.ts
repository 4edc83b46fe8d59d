import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { ADMIN_PATHS } from '../../src/wire/paths.js';
import { ROOT } from '../pages.js';

/** The last stage of the Dockerfile, which becomes the image. */
function lastStage(): string {
  return readFileSync(join(ROOT, 'scripts/deploy/Dockerfile'), 'utf8')
    .split(/^FROM /m)
    .at(-1)!;
}

test('the image runs as a user without rights and says whether it is ready', async (t) => {
  const stage = lastStage();
  t.match(stage, /^USER node$/m);
  t.match(stage, `http://127.0.0.1:9090${ADMIN_PATHS.ready}`);
  t.match(stage, /^COPY --from=build \/build\/dist\/src dist\/src$/m, 'only what was built is in it');
  t.notMatch(stage, /npm (?:ci|install)/);
});

test('what the image copies is there, and not left out of its context', async (t) => {
  const dockerfile = readFileSync(join(ROOT, 'scripts/deploy/Dockerfile'), 'utf8');
  const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
  for (const [, sources = ''] of dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)) {
    for (const source of sources.split(' ')) {
      t.ok(existsSync(join(ROOT, source)), source);
      t.ok(ignored.includes(`!${source.split('/')[0]}`), `${source} is in the context`);
    }
  }
});

test('the check of its health fails where nothing answers', async (t) => {
  const [, command] = /CMD \["node", "-e", "(.*)"\]/.exec(lastStage()) ?? [];
  t.ok(command !== undefined);
  // Nobody listens on port 1.
  const { status } = spawnSync(process.execPath, ['-e', command!.replace(':9090', ':1')]);
  t.equal(status, 1);
});
