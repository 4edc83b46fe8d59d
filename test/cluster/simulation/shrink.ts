import type { Mutant } from './mutant.js';
import { type Plan, planOf } from './plan.js';
import { simulate } from './simulation.js';

/** The largest number of runs that are spent on one schedule. */
const RUNS_MAX = 400;

/** The smallest schedule that was found, and its history in words. */
export interface Shrunk {
  readonly plan: Plan;
  readonly violations: readonly string[];
  readonly history: readonly string[];
}

/**
 * Makes the schedule of a seed smaller, as long as it breaks the same rule: without some of its faults and updates, with two
 * aggregators, and with shorter faults.
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

/** Returns the rule that a violation breaks: its text, in which each number and each ID may be another one. */
export function ruleOf(violation: string): RegExp {
  const text = violation.replace(/^[\d.]+ ms: /, '');
  const words = text.split(/\b(?:[0-9a-f]{64}|n?\d[\d.]*|undefined)\b/);
  return new RegExp(words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\S+'));
}

/** Leaves out parts of a list: first halves, then smaller parts, at last single items. */
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
