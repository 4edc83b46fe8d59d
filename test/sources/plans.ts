import type { TimeNs } from '../../src/model/time.js';
import { parseSources } from '../../src/sources/parse_sources.js';
import type { SourcesPlan } from '../../src/sources/plan.js';

export const START = 1_786_613_000_000_000_000n as TimeNs;

/** Returns the time `ms` milliseconds after {@link START}. */
export function after(ms: number): TimeNs {
  return (START + BigInt(ms) * 1_000_000n) as TimeNs;
}

/** Reads a file of sources that has no errors. */
export function planOf(text: string): SourcesPlan {
  const result = parseSources(text, 'sources.yaml');
  if (!result.ok) throw new Error(result.errors.join('\n'));
  return result.plan;
}
