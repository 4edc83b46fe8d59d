import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Measurement, Row, Scale } from './row.js';

/** The time after which a run counts as hung. On an idle machine, no variant takes more than 10 % of this time. */
export const RUN_SECONDS_MAX = 300;

/**
 * Runs each variant of a row once in each round. Every run has a new process. Each round reverses the order of the previous round, so
 * that slow changes of the machine affect all variants equally.
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
      measured[variant]!.push(await runInFreshProcess(row.name, variant, scale));
    }
  }
  return measured;
}

/** @throws Error with the output of the process, if the process fails. */
function runInFreshProcess(row: string, variant: string, scale: Scale): Promise<Measurement> {
  const file = fileURLToPath(new URL('../round.js', import.meta.url));
  const child = spawn(process.execPath, [file, row, variant, scale], { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.on('data', (text) => {
    out += text;
  });
  child.stderr.on('data', (text) => {
    err += text;
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(out) as Measurement);
      else reject(new Error(`${row}, ${variant}: exit status ${code}\n${err}`));
    });
  });
}
