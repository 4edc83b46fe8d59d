import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Measurement, Scale } from '../harness/row.js';

/** Peers in other languages. Each prints how often a stage ran in a second of CPU time. */
export type CompiledPeer = 'C' | 'Go';

/** How long a stage is repeated. */
const SECONDS: Readonly<Record<Scale, string>> = { full: '0.5', smoke: '0.001' };
/** The first time Go downloads a module and compiles its C. */
const BUILD_MS_MAX = 240_000;

/** How each is built from its source in this folder. */
const BUILDS = {
  C: {
    needs: 'cc and the headers of libsecp256k1',
    command: (output: string) => ['cc', '-O2', source('bare_secp256k1.c'), '-o', output, '-lsecp256k1'],
    folder: source('.'),
  },
  Go: {
    needs: 'go, cc, and the module go-ethereum',
    command: (output: string) => ['go', 'build', '-o', output, '.'],
    folder: source('go_signatures'),
  },
} as const;

/**
 * Builds a peer and runs its stages. A peer whose tools are not on this machine is missing; so is Go at smoke scale, because to
 * build it takes half a minute.
 * @param stages by name of the figure the arguments of the stage
 */
export function measureCompiled(
  peer: CompiledPeer,
  scale: Scale,
  stages: Readonly<Record<string, readonly string[]>>,
): Measurement {
  if (peer === 'Go' && scale === 'smoke') return { figures: {}, missing: 'not built at smoke scale' };
  const { needs, command, folder } = BUILDS[peer];
  const program = fileURLToPath(new URL(`./signatures_in_${peer.toLowerCase()}`, import.meta.url));
  const [compiler, ...args] = command(program);
  const built = spawnSync(compiler!, args, { cwd: folder, timeout: BUILD_MS_MAX, stdio: 'ignore' });
  if (built.status !== 0 || !existsSync(program)) return { figures: {}, missing: `it needs ${needs}` };
  const entries = Object.entries(stages).map(([figure, stage]) => [
    figure,
    rate(program, [...stage, SECONDS[scale]]),
  ]);
  return { figures: Object.fromEntries(entries) };
}

function rate(program: string, args: readonly string[]): number {
  const { status, stdout, stderr } = spawnSync(program, args);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
  return Number(stdout);
}

/** Of the source folder; this program runs from `dist/bench/peers`. */
function source(name: string): string {
  return fileURLToPath(new URL(`../../../bench/peers/${name}`, import.meta.url));
}
