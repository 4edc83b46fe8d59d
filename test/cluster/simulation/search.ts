import { parentPort, workerData } from 'node:worker_threads';
import { CLAIMS_AT_THE_END, NO_ID, SKIPS_LEASE, TWO_IN_FLIGHT, TWO_IN_FLIGHT_NO_ID } from './mutants.js';
import { simulate } from './simulation.js';

// Searches for a schedule that breaks a rule, on a separate thread like `schedules.ts`.

const MUTANTS = { CLAIMS_AT_THE_END, NO_ID, SKIPS_LEASE, TWO_IN_FLIGHT, TWO_IN_FLIGHT_NO_ID };

export interface Search {
  readonly mutant: keyof typeof MUTANTS;
  readonly losesRecords?: boolean;
  readonly rule: RegExp;
  readonly schedulesMax: number;
}

/** The result; `undefined` when no schedule breaks the rule. */
export type Found = { readonly seed: number; readonly violation: string } | undefined;

const { mutant, losesRecords = false, rule, schedulesMax } = workerData as Search;
parentPort!.postMessage(await search());

async function search(): Promise<Found> {
  for (let seed = 1; seed <= schedulesMax; seed++) {
    const { violations } = await simulate(seed, { mutant: MUTANTS[mutant], losesRecords });
    const violation = violations.find((text) => rule.test(text));
    if (violation !== undefined) return { seed, violation };
  }
  return undefined;
}
