import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { SECP256K1_LIBRARY_VARIABLE } from '../../src/crypto/secp256k1/secp256k1.js';

/** What the figures were measured on. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly os: string;
  readonly node: string;
  /** Of what the peers are made of, by name; what this machine does not have is left out. Absent in results of before it was noted. */
  readonly versions?: Readonly<Record<string, string>>;
  /** Of the minute before the bench: what other processes were doing. */
  readonly loadBefore: number;
}

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    os: osName(),
    node: process.version,
    versions: versions(),
    loadBefore: Number(loadavg()[0]!.toFixed(1)),
  };
}

/** How programs tell their versions, and which part of that it is. */
const PROGRAMS: Readonly<Record<string, readonly [command: string, args: string, version: RegExp]>> = {
  Go: ['go', 'version', /go([\d.]+)/],
  Rust: ['rustc', '--version', /rustc ([\d.]+)/],
  nginx: ['nginx', '-v', /nginx\/([\d.]+)/],
  libsecp256k1: ['pkg-config', '--modversion libsecp256k1', /([\d.]+)/],
};
const PACKAGES = [
  'uWebSockets.js',
  'ws',
  'fastify',
  'secp256k1',
  '@noble/secp256k1',
  '@scure/starknet',
  'benchmark',
];

function versions(): Record<string, string> {
  const manifest = JSON.parse(
    readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
  ) as Manifest;
  const pinned = { ...manifest.dependencies, ...manifest.devDependencies };
  const packages = PACKAGES.map((name) => [name, pinned[name]!.replace(/^npm:/, '')] as const);
  const programs = Object.entries(PROGRAMS).flatMap(([name, [command, args, version]]) => {
    const { stdout, stderr } = spawnSync(command, args.split(' '), { encoding: 'utf8' });
    const found = version.exec(`${stdout}${stderr}`)?.[1];
    return found === undefined ? [] : [[name, found] as const];
  });
  // A library that the environment names takes the place of the system's.
  const named = /libsecp256k1-([\d.]+)/.exec(process.env[SECP256K1_LIBRARY_VARIABLE] ?? '')?.[1];
  return Object.fromEntries([
    ...packages,
    ...programs,
    ...(named === undefined ? [] : [['libsecp256k1', named]]),
  ]);
}

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/** The commit that is measured, with `+` when the work tree differs from it; `unknown` outside a repository. */
export function describeCommit(): string {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { stdio: ['ignore', 'pipe', 'ignore'] });
    const commit = git('rev-parse', '--short=10', 'HEAD').toString().trim();
    // What the bench itself writes does not make the measured code another.
    const changed = git('status', '--porcelain', '--', 'src', 'bench/*.ts', 'package-lock.json').length > 0;
    return changed ? `${commit}+` : commit;
  } catch {
    return 'unknown';
  }
}

function osName(): string {
  try {
    return /^PRETTY_NAME="?([^"\n]+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? process.platform;
  } catch {
    return process.platform;
  }
}
