import { parentPort, workerData } from 'node:worker_threads';
import type { Mutant } from './mutant.js';
import { MUTANTS } from './mutants.js';
import { simulate } from './simulation.js';

// Searches for a schedule that violates an invariant, on a separate thread like `schedules.ts`.

export interface Search {
  readonly mutant: keyof typeof MUTANTS;
  readonly rule: RegExp;
  readonly schedulesMax: number;
}

/** The result; `undefined` when no schedule violates the invariant. */
export type Found = { readonly seed: number; readonly violation: string } | undefined;

const { mutant: name, rule, schedulesMax } = workerData as Search;
const mutant: Mutant = MUTANTS[name];
parentPort!.postMessage(await search());

async function search(): Promise<Found> {
  for (let seed = 1; seed <= schedulesMax; seed++) {
    const { violations } = await simulate(seed, { mutant });
    const violation = violations.find((text) => rule.test(text));
    if (violation !== undefined) return { seed, violation };
  }
  return undefined;
}
