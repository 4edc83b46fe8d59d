import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'tap';
import { machineProblem, nodeProblem } from '../../../src/server/uws/machine.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Machines (the version of Node, that of the C library or -, processor, system), each with its error, if it has one. */
const cases: readonly (readonly [machine: string, error?: RegExp])[] = [
  ['20.19.0 2.28 x64 linux'],
  ['22.0.0 2.38 arm64 linux'],
  ['24.21.0 3.0 x64 linux'],
  ['24.1.0 - arm64 darwin'],
  [
    '22.23.3 2.36 x64 linux',
    /^with Node 22.23.3 the service needs glibc 2.38 .* 2.36: use Node 20, or a newer/,
  ],
  ['20.19.5 2.27 x64 linux', /needs glibc 2.28 or later, .* has glibc 2.27: use a newer Linux$/],
  ['22.1.0 2.9 x64 linux', /needs glibc 2.38 or later, .* has glibc 2.9: use a newer Linux$/],
  ['20.19.5 - x64 linux', /^the service needs a Linux with glibc 2\.28 or later, .* Alpine's musl$/],
  ['20.18.3 2.41 x64 linux', /^the service needs Node 24, 22 or 20 .* is Node 20.18.3$/],
  ['26.10.0 2.36 x64 linux', /has no build for Node 26.10.0: use Node 20 \(20.19 or later\), or .* SHA-256$/],
  ['26.10.0 - x64 darwin', /has no build for Node 26.10.0: use Node 24, 22 or 20 \(20.19 or later\)/],
  ['20.19.0 - x64 win32', /^the service needs Linux or macOS on x64 or arm64, .* win32 on x64$/],
  ['20.19.0 2.36 arm linux', /^the service needs Linux or macOS on x64 or arm64, .* linux on arm$/],
];

test('a command on a Node that is too old says what it needs', async (t) => {
  for (const version of ['16.20.2', '20.18.3'])
    t.match(
      nodeProblem(version),
      `tickseal needs Node 24, 22, or 20.19 or later, and this is Node ${version}`,
    );
  for (const version of ['20.19.0', '26.10.0']) t.equal(nodeProblem(version), undefined);
});

test('what a machine lacks is one sentence', async (t) => {
  for (const [machine, error] of cases) {
    const [nodeVersion = '', glibc, arch = '', platform = ''] = machine.split(' ');
    const glibcVersion = glibc === '-' ? undefined : glibc;
    const problem = machineProblem({ nodeVersion, glibcVersion, arch, platform }, false) ?? 'none';
    t.match(problem, error ?? /^none$/, machine);
  }
});

test('with a build that the operator trusts, only what the other add-ons need counts', async (t) => {
  const machine = { nodeVersion: '26.1.0', platform: 'linux', arch: 'x64' };
  t.equal(machineProblem({ ...machine, glibcVersion: '2.28' }, true), undefined);
  t.match(machineProblem({ ...machine, glibcVersion: '2.27' }, true), /needs glibc 2\.28 or later/);
});

test('too few file handles are one sentence with the number that is needed', async (t) => {
  if (process.platform === 'win32') return t.comment('skipped: there is no such limit here');
  const main = join(ROOT, 'dist/src/cli/main.js');
  const command = `unset NODE_OPTIONS NODE_V8_COVERAGE; ulimit -n "$1"; "$2" "$3" --version 2>&1; echo "status $?"`;
  const run = (limit: number) =>
    execFileSync('sh', ['-c', command, 'sh', String(limit), process.execPath, main], { encoding: 'utf8' });
  const text = run(64);
  t.match(
    text,
    /^too few file handles: the limit is 64, and at least \d+ are needed to start, .+\nstatus 1\n$/,
  );
  const needed = Number(/at least (\d+)/.exec(text)![1]);
  t.match(run(needed), /^\d+\.\d+\.\d+ commit [\w-]+\nstatus 0\n$/, `${needed} are enough`);
});
