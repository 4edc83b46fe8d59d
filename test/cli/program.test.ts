import { execFileSync, spawnSync } from 'node:child_process';
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

test('the help lists every command, and a wrong name gets the list', async (t) => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [`${ROOT}dist/src/cli/main.js`, ...args], { encoding: 'utf8' });
  const commandsOf = (text: string) => [...text.matchAll(/^ {2}([a-z][a-z-]*)\b/gm)].map(([, name]) => name);
  const all = commandsOf(run('--help').stdout);
  for (const name of ['serve', 'publish', 'verify', 'help']) t.ok(all.includes(name), name);
  // A property name that every object inherits.
  const { stderr, status } = run('constructor');
  t.match(stderr, "error: unknown command 'constructor'");
  t.same([commandsOf(stderr), status], [all, 1]);
  t.match(run('verify', '--help').stdout, /^Usage: tickseal verify /);
});
