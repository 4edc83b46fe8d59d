import type { Mutant } from './mutant.js';
import { type Plan, planOf } from './plan.js';
import { simulate } from './simulation.js';

/** The largest number of runs for shrinking one schedule. */
const RUNS_MAX = 400;

/** The smallest schedule that was found, and a description of its events. */
export interface Shrunk {
  readonly plan: Plan;
  readonly violations: readonly string[];
  readonly history: readonly string[];
}

/**
 * Shrinks the schedule of a seed while it violates the same invariant: removes faults and updates, uses only two aggregators, and
 * shortens faults.
 */
export async function shrink(seed: number, rule: RegExp, mutant: Mutant = {}): Promise<Shrunk> {
  let runs = 0;
  const fails = async (plan: Plan) => {
    if (++runs > RUNS_MAX) return false;
    const { violations } = await simulate(seed, { plan, mutant });
    return violations.some((text) => rule.test(text));
  };
  let plan = planOf(seed);
  for (let before: Plan | undefined; before !== plan; ) {
    before = plan;
    for (const key of ['faults', 'updates'] as const) plan = await withoutSome(plan, key, fails);
    const two = { ...plan, aggregators: 2 };
    if (plan.aggregators > 2 && (await fails(two))) plan = two;
    for (const [place, fault] of plan.faults.entries()) {
      const shorter = { ...fault, lastsMs: fault.lastsMs / 2 };
      const smaller: Plan = { ...plan, faults: plan.faults.map((one, i) => (i === place ? shorter : one)) };
      if (fault.lastsMs > 100 && (await fails(smaller))) plan = smaller;
    }
  }
  const history: string[] = [];
  const { violations } = await simulate(seed, { plan, mutant, tell: (what) => history.push(what) });
  return { plan, violations, history };
}

/** Returns the violated invariant: the text of the violation with placeholders for numbers and IDs. */
export function ruleOf(violation: string): RegExp {
  const text = violation.replace(/^[\d.]+ ms: /, '');
  const words = text.split(/\b(?:[0-9a-f]{64}|n?\d[\d.]*|undefined)\b/);
  return new RegExp(words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\S+'));
}

/** Removes parts of a list: first halves, then smaller parts, finally single items. */
async function withoutSome(
  plan: Plan,
  key: 'faults' | 'updates',
  fails: (plan: Plan) => Promise<boolean>,
): Promise<Plan> {
  let smallest = plan;
  for (let size = Math.ceil(plan[key].length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let first = 0; first < smallest[key].length; ) {
      const items: readonly unknown[] = smallest[key];
      const smaller = { ...smallest, [key]: [...items.slice(0, first), ...items.slice(first + size)] };
      if (await fails(smaller)) smallest = smaller;
      else first += size;
    }
  return smallest;
}
