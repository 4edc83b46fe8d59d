import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'tap';
import { programCommit } from '../../src/cli/program_version.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

test('--version is that of the package, with the commit of the build', async (t) => {
  const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { version: string };
  for (const option of ['--version', '-V'])
    t.equal(
      execFileSync(process.execPath, [`${ROOT}dist/src/cli/main.js`, option], { encoding: 'utf8' }),
      `${version} commit ${programCommit()}\n`,
    );
  t.match(programCommit(), /^(?:[0-9a-f]{40}(?:-dirty)?|unknown)$/);
});
