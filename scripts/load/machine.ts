import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';
import { SECP256K1_LIBRARY_VARIABLE } from '../../src/crypto/secp256k1/secp256k1.js';

/** The machine on which the figures were measured. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly os: string;
  readonly node: string;
  /**
   * The versions of the peers' programs, by name. Missing programs are left out. The field is absent in old results without
   * versions.
   */
  readonly versions?: Readonly<Record<string, string>>;
  /** The load of other processes in the minute before the bench. */
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

/** The commands that print the programs' versions, and the patterns that find the version in the output. */
const PROGRAMS: Readonly<Record<string, readonly [command: string, args: string, version: RegExp]>> = {
  Go: ['go', 'version', /go([\d.]+)/],
  libsecp256k1: ['pkg-config', '--modversion libsecp256k1', /([\d.]+)/],
};
const PACKAGES = ['uWebSockets.js', 'ws', 'fastify', 'secp256k1', '@scure/starknet'];

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
  // If the environment names a library, the service uses that library instead of the system's.
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

/** Returns the description of a machine as a sentence. */
export function machineText({ cpu, cores, memoryGiB, os, node, versions = {} }: Machine): string {
  const others = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `${cpu}, ${cores} cores, ${memoryGiB} GiB; ${os}; Node ${node}${others.map((text) => `, ${text}`).join('')}.`;
}

/**
 * Returns the measured commit, with `+` when the work tree differs from the commit. Returns `unknown` outside a repository.
 * @param paths the measured files as pathspecs of git, without the files that the measurement writes
 */
export function describeCommit(paths: readonly string[]): string {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { stdio: ['ignore', 'pipe', 'ignore'] });
    const commit = git('rev-parse', '--short=10', 'HEAD').toString().trim();
    const changed = git('status', '--porcelain', '--', ...paths).length > 0;
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
