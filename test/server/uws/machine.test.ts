import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'tap';
import { machineProblem, NODE_LINES, nodeProblem, thisMachine } from '../../../src/server/uws/machine.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** The cases: the version of Node, of the C library, the processor, the system, and the error; `undefined` for a supported machine. */
const cases: readonly (readonly [string, string | undefined, string, string, RegExp?])[] = [
  ['20.19.0', '2.28', 'x64', 'linux'],
  ['20.20.2', '2.36', 'arm64', 'linux'],
  ['22.0.0', '2.38', 'x64', 'linux'],
  ['22.23.3', '2.41', 'arm64', 'linux'],
  ['24.21.0', '2.39', 'x64', 'linux'],
  ['24.21.0', '3.0', 'x64', 'linux'],
  ['24.1.0', undefined, 'arm64', 'darwin'],
  [
    '22.23.3',
    '2.36',
    'x64',
    'linux',
    needsGlibc('22.23.3', '2.38', '2.36', 'Node 20, or a newer Linux such as'),
  ],
  [
    '24.0.0',
    '2.37',
    'arm64',
    'linux',
    needsGlibc('24.0.0', '2.38', '2.37', 'Node 20, or a newer Linux such as'),
  ],
  ['20.19.5', '2.27', 'x64', 'linux', needsGlibc('20.19.5', '2.28', '2.27', 'a newer Linux$')],
  ['22.1.0', '2.9', 'x64', 'linux', needsGlibc('22.1.0', '2.38', '2.9', 'a newer Linux$')],
  [
    '20.19.5',
    undefined,
    'x64',
    'linux',
    /^the service needs a Linux with glibc 2\.28 or later, .* Alpine's musl$/,
  ],
  ...['18.20.8', '20.18.3', '21.7.3', '23.11.0'].map(
    (node) =>
      [
        node,
        '2.41',
        'x64',
        'linux',
        new RegExp(`^the service needs Node 24, 22 or 20 .* is Node ${node}$`),
      ] as const,
  ),
  ['26.10.0', '2.36', 'x64', 'linux', noBuild('26.10.0', '20')],
  ['25.0.0', '2.41', 'arm64', 'linux', noBuild('25.0.0', '24, 22 or 20')],
  ['26.10.0', undefined, 'x64', 'darwin', noBuild('26.10.0', '24, 22 or 20')],
  [
    '20.19.0',
    undefined,
    'x64',
    'win32',
    /^the service needs Linux or macOS on x64 or arm64, .* win32 on x64$/,
  ],
  ['20.19.0', '2.36', 'arm', 'linux', /^the service needs Linux or macOS on x64 or arm64, .* linux on arm$/],
];

function needsGlibc(node: string, needed: string, found: string, advice: string): RegExp {
  return new RegExp(
    `^with Node ${node} the service needs glibc ${needed} or later, and this machine has glibc ${found}: use ${advice}`,
  );
}

function noBuild(version: string, usable: string): RegExp {
  return new RegExp(
    `^the npm package of uWebSockets.js has no build for Node ${version}: use Node ${usable} \\(20.19 or later\\), or install an official ` +
      'build .* and set TICKSEAL_UWS_SHA256 to its SHA-256$',
  );
}

test('a command on a Node that is too old says what it needs', async (t) => {
  for (const version of ['16.20.2', '18.20.8', '19.9.0', '20.18.3'])
    t.equal(
      nodeProblem(version),
      `tickseal needs Node 24, 22, or 20.19 or later, and this is Node ${version}`,
    );
  for (const version of ['20.19.0', '22.0.0', '24.1.0', '26.10.0']) t.equal(nodeProblem(version), undefined);
});

test('what a machine lacks is one sentence', async (t) => {
  for (const [nodeVersion, glibcVersion, arch, platform, expected] of cases)
    t.match(
      machineProblem({ nodeVersion, glibcVersion, arch, platform }, false) ?? 'none',
      expected ?? /^none$/,
      `Node ${nodeVersion}, ${platform} ${arch}, glibc ${glibcVersion}`,
    );
});

test('with a build that the operator trusts, only what the other add-ons need counts', async (t) => {
  const machine = { nodeVersion: '26.1.0', platform: 'linux', arch: 'x64' };
  t.equal(machineProblem({ ...machine, glibcVersion: '2.28' }, true), undefined);
  t.match(machineProblem({ ...machine, glibcVersion: '2.27' }, true), /needs glibc 2\.28 or later/);
});

test('the machine that runs these tests can run the service', async (t) => {
  t.equal(machineProblem(thisMachine(), false), undefined);
});

test('the binaries ask for no newer glibc than is said', async (t) => {
  const abis: Readonly<Record<number, number>> = { 20: 115, 22: 127, 24: 137 };
  for (const { major, glibcMin } of NODE_LINES) {
    const needed = ['x64', 'arm64'].map((arch) =>
      glibcOf(join(ROOT, `node_modules/uWebSockets.js/uws_linux_${arch}_${abis[major]}.node`)),
    );
    t.ok(Math.max(...needed) <= minorOf(glibcMin), `uWebSockets.js for Node ${major}: 2.${needed}`);
    if (major > 20) t.equal(Math.max(...needed), minorOf(glibcMin), 'and no older one');
  }
});

test('package.json names the same Node releases', async (t) => {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    engines: { node: string };
  };
  t.equal(engines.node, NODE_LINES.map(({ major, minorMin }) => `^${major}.${minorMin}.0`).join(' || '));
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

/** Returns the minor version of the newest glibc 2 whose symbols the file requires. */
function glibcOf(file: string): number {
  const text = readFileSync(file, 'latin1');
  return Math.max(...[...text.matchAll(/GLIBC_2\.(\d+)/g)].map(([, minor]) => Number(minor)));
}

function minorOf(version: string): number {
  return Number(version.split('.')[1]);
}
