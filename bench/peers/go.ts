import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ServerProcess, startProgram } from '../../scripts/load/server_process.js';
import type { Measurement, Scale } from '../harness/row.js';

/** The time for which a stage is repeated, in seconds. */
const SECONDS: Readonly<Record<Scale, string>> = { full: '0.5', smoke: '0.001' };
/** The time limit of a build. The first build downloads and compiles packages. */
const BUILD_MS_MAX = 280_000;

/** The folder for the built programs, outside the repository. */
const KEPT = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tickseal', 'peers', 'go');
/** The source of the programs, because this program runs in `dist/bench/peers`. */
const SOURCE = fileURLToPath(new URL('../../../bench/peers/go', import.meta.url));

/** A server of a peer, or the reason why the server is missing. */
export type StartedPeer = ServerProcess | { readonly missing: string };

/** Builds a server in Go and starts it. */
export async function startGo(scale: Scale, program: string, ...args: string[]): Promise<StartedPeer> {
  const built = build(scale, program);
  return 'missing' in built ? built : startProgram([built.file, ...args]);
}

/**
 * Builds the program of stages in Go and runs its stages. Each stage prints its number of runs in a second of CPU time.
 * @param stages the arguments of each stage, by the name of the stage's figure
 */
export function measureGo(scale: Scale, stages: Readonly<Record<string, readonly string[]>>): Measurement {
  const built = build(scale, 'signatures');
  if ('missing' in built) return { figures: {}, missing: built.missing };
  const entries = Object.entries(stages).map(([figure, stage]) => [
    figure,
    rate(built.file, [...stage, SECONDS[scale]]),
  ]);
  return { figures: Object.fromEntries(entries) };
}

/** Builds a program. It is missing at smoke scale, because a build takes half a minute, and on a machine without Go. */
function build(scale: Scale, program: string): { readonly file: string } | { readonly missing: string } {
  if (scale === 'smoke') return { missing: 'not built at smoke scale' };
  const file = join(KEPT, program);
  mkdirSync(KEPT, { recursive: true });
  const options = { cwd: SOURCE, timeout: BUILD_MS_MAX, stdio: 'ignore' } as const;
  const built = spawnSync('go', ['build', '-o', file, `./${program}`], options);
  return built.status === 0 && existsSync(file)
    ? { file }
    : { missing: 'it needs go, cc, and the modules of bench/peers/go' };
}

function rate(program: string, args: readonly string[]): number {
  const { status, stdout, stderr } = spawnSync(program, args);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
  return Number(stdout);
}
