import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ServerProcess, startProgram } from '../../scripts/load/server_process.js';
import { SECP256K1_LIBRARY_VARIABLE } from '../../src/crypto/secp256k1/secp256k1.js';
import type { Measurement, Scale } from '../harness/row.js';

/** The programming languages of the peers that are not written in JavaScript. */
export type CompiledPeer = 'C' | 'Go' | 'Rust';

/** The time for which a stage is repeated, in seconds. */
const SECONDS: Readonly<Record<Scale, string>> = { full: '0.5', smoke: '0.001' };
/** The time limit of a build. The first build with Go or Rust downloads and compiles packages. */
const BUILD_MS_MAX = 280_000;

/** The folder for the built programs, outside the repository. */
const KEPT = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tickseal', 'peers');

interface Build {
  /** The tools that the machine must have for the build. */
  readonly needs: string;
  readonly command: (program: string) => readonly string[];
  /** The folder in which the command runs. */
  readonly folder: string;
  /** Returns the path of the built program. */
  readonly output: (program: string) => string;
}

/** The commands that build each peer from its source in this folder. */
const BUILDS: Readonly<Record<CompiledPeer, Build>> = {
  C: {
    needs: 'cc and the headers of libsecp256k1',
    command: (program) => ['cc', '-O2', 'bare_secp256k1.c', '-o', kept('c', program), secp256k1Argument()],
    folder: source('.'),
    output: (program) => kept('c', program),
  },
  Go: {
    needs: 'go, cc, and the modules of bench/peers/go',
    command: (program) => ['go', 'build', '-o', kept('go', program), `./${program}`],
    folder: source('go'),
    output: (program) => kept('go', program),
  },
  Rust: {
    needs: 'cargo, and the crates of bench/peers/rust',
    command: (program) => [
      'cargo',
      'build',
      '--release',
      '--locked',
      '--bin',
      program,
      '--target-dir',
      kept('rust'),
    ],
    folder: source('rust'),
    output: (program) => kept('rust', 'release', program),
  },
};

/** A server in another language, or the reason why the server is missing. */
export type StartedPeer = ServerProcess | { readonly missing: string };

/** Builds a server and starts it. */
export async function startCompiled(
  peer: CompiledPeer,
  scale: Scale,
  program: string,
  ...args: string[]
): Promise<StartedPeer> {
  const built = build(peer, scale, program);
  return 'missing' in built ? built : startProgram([built.file, ...args]);
}

/**
 * Builds a peer and runs the peer's stages. Each stage prints its number of runs in a second of CPU time.
 * @param stages the arguments of each stage, by the name of the stage's figure
 */
export function measureCompiled(
  peer: CompiledPeer,
  scale: Scale,
  stages: Readonly<Record<string, readonly string[]>>,
): Measurement {
  const built = build(peer, scale, 'signatures');
  if ('missing' in built) return { figures: {}, missing: built.missing };
  const entries = Object.entries(stages).map(([figure, stage]) => [
    figure,
    rate(built.file, [...stage, SECONDS[scale]]),
  ]);
  return { figures: Object.fromEntries(entries) };
}

/** Returns the compiler's argument for the library that the service uses. */
function secp256k1Argument(): string {
  const file = process.env[SECP256K1_LIBRARY_VARIABLE];
  return file?.includes('/') ? file : '-lsecp256k1';
}

/**
 * Builds a peer. A peer is missing if this machine does not have the peer's tools. At smoke scale, Go and Rust are missing, because
 * their builds take half a minute.
 */
function build(
  peer: CompiledPeer,
  scale: Scale,
  program: string,
): { readonly file: string } | { readonly missing: string } {
  if (peer !== 'C' && scale === 'smoke') return { missing: 'not built at smoke scale' };
  const { needs, command, folder, output } = BUILDS[peer];
  const file = output(program);
  mkdirSync(kept(peer.toLowerCase()), { recursive: true });
  const [compiler, ...args] = command(program);
  const built = spawnSync(compiler!, args, { cwd: folder, timeout: BUILD_MS_MAX, stdio: 'ignore' });
  return built.status === 0 && existsSync(file) ? { file } : { missing: `it needs ${needs}` };
}

function rate(program: string, args: readonly string[]): number {
  const { status, stdout, stderr } = spawnSync(program, args);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
  return Number(stdout);
}

function kept(...path: string[]): string {
  return join(KEPT, ...path);
}

/** Returns the path of a file in the source folder, because this program runs in `dist/bench/peers`. */
function source(name: string): string {
  return fileURLToPath(new URL(`../../../bench/peers/${name}`, import.meta.url));
}
