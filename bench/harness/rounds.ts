import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Measurement, Row, Scale } from './row.js';

/** The program of one run. */
const ROUND = fileURLToPath(new URL('../round.js', import.meta.url));
/** The time after which a run counts as hung. On an idle machine, no variant takes more than 10 % of this time. */
export const RUN_SECONDS_MAX = 300;

/**
 * Runs each variant of a row once in each round. Every run has a new process. Each round reverses the order of the previous round, so
 * that slow changes of the machine affect all variants equally.
 * @throws Error with the output of the process, if a process fails
 */
export async function runRounds(
  row: Row,
  scale: Scale,
  onRun: (variant: string, round: number) => void,
): Promise<Record<string, Measurement[]>> {
  const variants = Object.keys(row.variants);
  const measured: Record<string, Measurement[]> = Object.fromEntries(variants.map((name) => [name, []]));
  const rounds = scale === 'smoke' ? 1 : row.rounds;
  for (let round = 0; round < rounds; round++) {
    for (const variant of round % 2 === 0 ? variants : variants.toReversed()) {
      onRun(variant, round);
      const { stdout } = await promisify(execFile)(process.execPath, [ROUND, row.name, variant, scale]);
      measured[variant]!.push(JSON.parse(stdout) as Measurement);
    }
  }
  return measured;
}
